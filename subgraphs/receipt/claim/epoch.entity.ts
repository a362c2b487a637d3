import { BigIntType, Entity, PrimaryKey, Property } from '../../table.ts';

/** A chain on which payments were received. A network has a second row only after its development chain was restarted. */
@Entity({ tableName: 'chain_epoch' })
export class ChainEpoch {
  @PrimaryKey({ type: 'text' })
  network!: string;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  epoch!: number;
  @Property({ type: 'text' })
  genesisHash!: string;
  /** Number of the newest final block that was seen; `lastHash` is its hash. A chain without this block is another chain. */
  @Property({ type: new BigIntType('number') })
  lastBlock!: number;
  @Property({ type: 'text' })
  lastHash!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  startedAt!: Date;
}
