import { BigIntType, Entity, PrimaryKey, Property } from '../../table.ts';

/** Chain that this database has been paid on. A second row exists only after a development chain was restarted. */
@Entity({ tableName: 'chain_epoch' })
export class ChainEpoch {
  @PrimaryKey({ type: 'text' })
  network!: string;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  epoch!: number;
  @Property({ type: 'text' })
  genesisHash!: string;
  /** The newest final block that was seen, and its hash: a chain that does not know it is another chain. */
  @Property({ type: new BigIntType('number') })
  lastBlock!: number;
  @Property({ type: 'text' })
  lastHash!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  startedAt!: Date;
}
