import { Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/** Link from a correction to the row that it corrects. The content of the correction is in its own row. */
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
  /** Seq of the row at the start of the chain of corrections. */
  @Property({ type: 'integer' })
  originalSeq!: number;
  /** Seq of the row that the correction names: the original row or an earlier correction. */
  @Property({ type: 'integer' })
  correctsSeq!: number;
  /** SHA-256 of the content of the correction in canonical JSON. Null for corrections by this service, and for older ones. */
  @Property({ type: 'text', nullable: true })
  saidHash!: string | null;
}

/** Link from a merge to one of the branches that it merges. */
@Entity({ tableName: 'book_merge' })
export class BookMerge {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  /** Seq of the merged branch. */
  @PrimaryKey({ type: 'integer', autoincrement: false })
  mergedSeq!: number;
  /** Seq of the correction that merges the branch. */
  @PrimaryKey({ type: 'integer', autoincrement: false })
  seq!: number;
}

/** Counts of the corrections of one original row, or of the whole book (`originalSeq` 0). */
@Entity({ tableName: 'book_supersession' })
export class BookSupersession {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  originalSeq!: number;
  /** Number of corrected original rows. */
  @Property({ type: 'integer' })
  chains!: number;
  @Property({ type: 'integer' })
  corrections!: number;
  /** Number of rows with more than one correction. */
  @Property({ type: 'integer' })
  forks!: number;
  /** Seq of the newest correction. If there is no fork, this correction is in force. */
  @Property({ type: 'integer' })
  lastSeq!: number;
  /** Number of tips: rows of corrected chains that have no successor. Valid only if `tipsOf` equals `corrections`. */
  @Property({ type: 'integer', nullable: true })
  tips!: number | null;
  /** Number of corrections for which `tips` was counted. */
  @Property({ type: 'integer', nullable: true })
  tipsOf!: number | null;
  /** Seq of the newest merge. Null if there is none. */
  @Property({ type: 'integer', nullable: true })
  lastMergeSeq!: number | null;
}
