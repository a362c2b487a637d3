/** Limits of what is told of a row's lineage, units last in each name; a page of descendants is one of rows (limits.ts). */
export const lineageLimits = {
  /** How many steps it is followed, up and down. */
  steps_max: 1_000,
  /** Of one row: the first in the order of the book. Each of them has descendants of its own to ask for. */
  descendants_max: 10_000,
  /** In one process: the widest lineage takes about a second of the database. */
  reads_at_once_max: 4,
  read_wait_ms_max: 5_000,
  reads_waiting_per_book_max: 16,
} as const;
