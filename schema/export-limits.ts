/** Limits of what is exported of a book, units last in each name; all others are in limits.ts. */
export const exportLimits = {
  rows_max: 200,
  /** Of a stream of the whole book: one statement and one piece of its answer. */
  page_rows: 1_000,
  /** Of a stream of rows that match: counted by one statement, before its first piece. */
  counted_seqs: 50_000,
  /** Under way at once in one process: each keeps a processor of the database busy for as long as its reader takes all. */
  streams_max: 8,
  streams_per_book_max: 2,
  /** Over all streams of a process, in turns: a stream reads one page ahead of its reader. */
  pages_read_at_once_max: 4,
  page_wait_ms_max: 10_000,
  parquet_group_pages: 4,
  /** Of the name of an account in a journal. */
  account_chars_max: 100,
  /** Looks at every row of a book, which may have any number of them; then the export says that it did not finish. */
  pull_scan_ms_max: 5_000,
  pulls_built_at_once_max: 2,
  pull_wait_ms_max: 10_000,
  pull_waiting_per_book_max: 2,
} as const;
