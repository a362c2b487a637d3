/** Limits of assignments and of the slices that they open, units last in each name; all others are in limits.ts. */
export const sliceLimits = {
  /** Of one book, each with a token that somebody holds. */
  live_per_book_max: 50,
  /** Of those that are over, the newest that are kept and listed. */
  over_kept_max: 50,
  grantee_chars_max: 200,
  task_ids_max: 100,
  task_chars_max: 128,
  rows_max: 200,
} as const;
