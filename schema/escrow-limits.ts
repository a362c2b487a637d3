/** Limits of escrows, units last in each name; all others are in limits.ts. Nobody pays for one. */
export const escrowLimits = {
  /** Of a book that opens them, of either kind by itself. */
  live_per_book_max: 100,
  opens_per_book_hour_max: 60,
  /** From one book to one other. */
  live_per_pair_max: 10,
  opens_per_pair_hour_max: 20,
  /** To the webhook of a counterparty that wants to be told. */
  offers_told_per_book_hour_max: 10,
  /** Where nobody says when an escrow ends. */
  lasts_seconds_default: 7 * 24 * 3_600,
  lasts_seconds_max: 90 * 24 * 3_600,
  page_default: 20,
  page_max: 50,
  id_chars_max: 64,
  task_chars_max: 128,
  job_chars_max: 128,
  evidence_bytes_max: 4 * 1024,
  evidence_depth_max: 8,
  evidence_members_max: 100,
  /** No escrow has more phases than its longest way: opened, funded, submitted, challenged, and its end. */
  phases_max: 5,
  /** Of a phase, as its cost is weighed: a release alone has any, up to five. */
  checks_assumed: 1,
  /** Read at once, and written in one round. */
  expired_per_batch_max: 50,
  expired_per_round_max: 1_000,
} as const;
