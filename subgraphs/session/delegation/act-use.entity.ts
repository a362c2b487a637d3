import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** A nonce of an act that was done: kept for as long as the act would pass. */
@Entity({ tableName: 'act_use' })
export class ActUse {
  @PrimaryKey({ type: 'text' })
  delegationHash!: string;
  @PrimaryKey({ type: 'text' })
  nonce!: string;
  @Index({ name: 'act_use_forget' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  forgetAt!: Date;
}
