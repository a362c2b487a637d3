import { Entity, PrimaryKey, Property } from '../../table.ts';

/** A witness's cosignature of a head of the log. Older ones are deleted, except for heads anchored on Base. */
@Entity({ tableName: 'log_cosignature' })
export class LogCosignature {
  @PrimaryKey({ type: 'bigint' })
  treeSize!: number;
  /** Its verifier key. */
  @PrimaryKey({ type: 'text' })
  witness!: string;
  @Property({ type: 'text' })
  rootHash!: string;
  /** As in a checkpoint, with its line feed; verified before it is stored. */
  @Property({ type: 'text' })
  line!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  at!: Date;
}

/** How far a witness has come with the log, over all processes. */
@Entity({ tableName: 'log_witness' })
export class LogWitnessRow {
  /** Its verifier key. */
  @PrimaryKey({ type: 'text' })
  witness!: string;
  /** The size from which it takes a proof next, as far as is known here. */
  @Property({ type: 'bigint' })
  oldSize!: number;
  /** Size of the newest head that it has cosigned; 0 before the first. */
  @Property({ type: 'bigint' })
  cosignedSize!: number;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  cosignedAt!: Date | null;
  /** Why it cosigns nothing newer; null if there is no trouble. */
  @Property({ type: 'text', nullable: true })
  trouble!: string | null;
}
