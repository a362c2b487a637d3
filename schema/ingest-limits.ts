/** Limits of what is recorded of payments to others, units last in each name; all others are in limits.ts. */
export const ingestLimits = {
  /** What was delivered may come along whole: it is hashed, and kept nowhere. */
  request_bytes_max: 256 * 1024,
  /** A settlement header as another shop sent it. */
  payment_response_chars_max: 16 * 1024,
  /** Of one signed artifact of the shop. */
  jws_chars_max: 8 * 1024,
  description_chars_max: 500,
  resource_chars_max: 2_048,
  hub_chars_max: 128,
  model_chars_max: 512,
  omission_rule_chars_max: 128,
  payer_signature_seconds_max: 300,
  /** Looked at again in one round. */
  rechecked_per_round_max: 100,
  corrected_per_round_max: 100,
} as const;
