/** Limits of inflows and their corrections, units last in each name; all others are in limits.ts. */
export const inflowLimits = {
  /** Of one book, both together: nobody pays for them. */
  rows_per_book_hour_max: 200,
  /** Of an inflow, the newest that its row shows: so many, of so many bytes together, and the newest of any size. */
  corrections_shown_max: 200,
  corrections_shown_bytes_max: 16 * 1024,
  bucket_chars_max: 64,
  /** Of the base URL of the service that a wallet names. */
  service_chars_max: 512,
  hub_chars_max: 128,
  /** Of an id that its caller chose. */
  task_chars_max: 128,
  reason_chars_max: 500,
  /** Of the branches of a fork that a correction names. */
  merges_max: 16,
  /** Of the object that a correction may carry. */
  correction_bytes_max: 4 * 1024,
  correction_depth_max: 8,
  correction_members_max: 100,
} as const;
