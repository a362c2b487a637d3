import { Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';

/** Which row corrects which: one of these for each correction. What the correction says stands on its own row. */
@Entity({ tableName: 'book_correction' })
@Index({ name: 'book_correction_original', properties: ['agentId', 'originalSeq', 'seq'] })
@Index({ name: 'book_correction_corrects', properties: ['agentId', 'correctsSeq'] })
@Unique({ name: 'book_correction_said', properties: ['agentId', 'correctsSeq', 'saidHash'] })
export class BookCorrection {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  /** Of the correction's own row. */
  @PrimaryKey({ type: 'integer', autoincrement: false })
  seq!: number;
  /** The inflow that its chain begins with. */
  @Property({ type: 'integer' })
  originalSeq!: number;
  /** The row that it names: the original, or an earlier correction of it. */
  @Property({ type: 'integer' })
  correctsSeq!: number;
  /** SHA-256 of what it says, canonical JSON; null of one that this service wrote by itself, and of those from before. */
  @Property({ type: 'text', nullable: true })
  saidHash!: string | null;
}

/** A row in which branches of a fork come together, once for each of them. */
@Entity({ tableName: 'book_merge' })
export class BookMerge {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  /** Of a branch. */
  @PrimaryKey({ type: 'integer', autoincrement: false })
  mergedSeq!: number;
  /** Of the correction that merges it. */
  @PrimaryKey({ type: 'integer', autoincrement: false })
  seq!: number;
}

/** What the corrections of one inflow came to, or (`originalSeq` 0) those of the whole book: counted as they land. */
@Entity({ tableName: 'book_supersession' })
export class BookSupersession {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  originalSeq!: number;
  /** Inflows that were corrected. */
  @Property({ type: 'integer' })
  chains!: number;
  @Property({ type: 'integer' })
  corrections!: number;
  /** Rows that more than one correction names. */
  @Property({ type: 'integer' })
  forks!: number;
  /** Of the newest correction: where nothing forks, the one that stands. */
  @Property({ type: 'integer' })
  lastSeq!: number;
  /** Rows of corrected chains that nothing has taken the place of. */
  @Property({ type: 'integer', nullable: true })
  tips!: number | null;
  /** Of how many corrections `tips` was counted: it holds where that is all of them. */
  @Property({ type: 'integer', nullable: true })
  tipsOf!: number | null;
  /** Of the newest correction that merges. */
  @Property({ type: 'integer', nullable: true })
  lastMergeSeq!: number | null;
}
