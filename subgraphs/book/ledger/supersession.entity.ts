import { Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/** One correction and the row that it corrects. Its content is on its own row. */
@Entity({ tableName: 'book_correction' })
@Index({ name: 'book_correction_original', properties: ['agentId', 'originalSeq', 'seq'] })
@Index({ name: 'book_correction_corrects', properties: ['agentId', 'correctsSeq'] })
@Unique({ name: 'book_correction_said', properties: ['agentId', 'correctsSeq', 'saidHash'] })
export class BookCorrection {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  /** Seq of the correction's own row. */
  @PrimaryKey({ type: 'integer', autoincrement: false })
  seq!: number;
  /** Inflow at the start of its chain. */
  @Property({ type: 'integer' })
  originalSeq!: number;
  /** The row that it names: the inflow or an earlier correction. */
  @Property({ type: 'integer' })
  correctsSeq!: number;
  /** SHA-256 of its content in canonical JSON. Null for corrections by this service, and for older ones. */
  @Property({ type: 'text', nullable: true })
  saidHash!: string | null;
}

/** A merge, once for each merged branch. */
@Entity({ tableName: 'book_merge' })
export class BookMerge {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  /** Seq of a branch. */
  @PrimaryKey({ type: 'integer', autoincrement: false })
  mergedSeq!: number;
  /** Seq of the correction that merges it. */
  @PrimaryKey({ type: 'integer', autoincrement: false })
  seq!: number;
}

/** Counts of the corrections of one inflow or (`originalSeq` 0) of the whole book. */
@Entity({ tableName: 'book_supersession' })
export class BookSupersession {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  originalSeq!: number;
  /** Number of corrected inflows. */
  @Property({ type: 'integer' })
  chains!: number;
  @Property({ type: 'integer' })
  corrections!: number;
  /** Number of rows with more than one correction. */
  @Property({ type: 'integer' })
  forks!: number;
  /** Seq of the newest correction. Without a fork it is the one in force. */
  @Property({ type: 'integer' })
  lastSeq!: number;
  /** Number of rows of corrected chains without a successor. */
  @Property({ type: 'integer', nullable: true })
  tips!: number | null;
  /** Number of corrections for which `tips` was counted. `tips` is valid if that is all of them. */
  @Property({ type: 'integer', nullable: true })
  tipsOf!: number | null;
  /** Seq of the newest merge. */
  @Property({ type: 'integer', nullable: true })
  lastMergeSeq!: number | null;
}
