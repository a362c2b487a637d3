/** Limits of what is paid for in two, units last in each name. */
export const legLimits = {
  /** The payee of the first could use it alone: as long as it may be valid no other one takes its place. */
  validity_seconds_max: 120,
  /** By so much less its offer asks for: a client's clock may be ahead of ours. */
  validity_slack_seconds: 30,
  /** When whoever met a payment under way may ask again. */
  retry_seconds: 5,
} as const;
