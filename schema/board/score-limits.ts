/** Limits of what endpoints are scored by, units last in each name. */
export const scoreLimits = {
  /** Of a host's posts that can weigh, and as many of the newest of all. */
  rows_max: 200,
  /** Of one payer, so that nobody fills the places of all others. */
  rows_per_payer_max: 20,
  /** The heaviest of a host that can weigh, among which those are chosen. */
  candidates_max: 1_000,
  /** Of a host's newest reports, to say what was reported. */
  reports_counted_max: 10_000,
  /** Before a payer's first post, as it is first looked at: about five and a half hours of Base. */
  funding_blocks_max: 10_000,
  page_blocks_max: 2_000,
  /** Of payers taken up at once. */
  events_per_round_max: 500,
  /** Then its funding is unknown for good. */
  tries_max: 8,
  retry_seconds_min: 5,
} as const;
