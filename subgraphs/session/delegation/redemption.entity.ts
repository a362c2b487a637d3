import { Entity, PrimaryKey, Property } from '../../table.ts';

/** A one-shot claim of a receipt that was closed by an act: once, for ever. */
@Entity({ tableName: 'redemption' })
export class Redemption {
  @PrimaryKey({ type: 'text' })
  taskId!: string;
  @Property({ type: 'text' })
  delegationHash!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  redeemedAt!: Date;
}
