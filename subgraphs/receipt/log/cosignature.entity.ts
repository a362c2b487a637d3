import { Entity, PrimaryKey, Property } from '../../table.ts';

/** Cosignature of a head of the log by a witness. Older ones are deleted, except those of heads anchored on Base. */
@Entity({ tableName: 'log_cosignature' })
export class LogCosignature {
  @PrimaryKey({ type: 'bigint' })
  treeSize!: number;
  /** Verifier key of the witness. */
  @PrimaryKey({ type: 'text' })
  witness!: string;
  @Property({ type: 'text' })
  rootHash!: string;
  /** Line of the cosignature as in a checkpoint, with its line feed. It is verified before it is stored. */
  @Property({ type: 'text' })
  line!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  at!: Date;
}

/** Progress of a witness with the log, the same for all processes. */
@Entity({ tableName: 'log_witness' })
export class LogWitnessRow {
  /** Verifier key of the witness. */
  @PrimaryKey({ type: 'text' })
  witness!: string;
  /** Tree size from which the witness accepts the next consistency proof, as far as it is known here. */
  @Property({ type: 'bigint' })
  oldSize!: number;
  /** Size of the newest head that the witness has cosigned; 0 before the first. */
  @Property({ type: 'bigint' })
  cosignedSize!: number;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  cosignedAt!: Date | null;
  /** Why the witness cosigns no newer head. Null if there is no problem. */
  @Property({ type: 'text', nullable: true })
  trouble!: string | null;
}
