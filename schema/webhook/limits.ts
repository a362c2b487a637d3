const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Limits of webhooks, units last in each name. */
export const webhookLimits = {
  url_chars_max: 2_048,
  /** Of a caller's own secret; of one that begins with `whsec_` the bytes behind it are counted (Standard Webhooks 1.0.0). */
  secret_chars_min: 24,
  secret_chars_max: 256,
  secret_bytes_min: 24,
  secret_bytes_max: 64,
  /** Of one that is made here. */
  secret_bytes: 32,
  /** So long an old secret signs beside the new one; and no more than so many old ones do. */
  old_secret_ms: 24 * HOUR,
  old_secrets_max: 2,
  changes_per_hour_max: 20,
  pings_per_hour_max: 20,
  redeliveries_per_hour_max: 20,
  /** Of one redelivery: how far its range reaches, and how many messages it sends. */
  redelivered_positions_max: 10_000,
  redelivered_messages_max: 1_000,
  /** Of a book: the newest, and for how long. */
  dead_letters_max: 1_000,
  dead_letter_days: 30,
  dead_letters_page_max: 200,
  dead_letters_page_default: 50,
  /** A delivery: from the look-up of the name to the end of the answer. */
  attempt_ms_max: 10_000,
  /** After so long without an answer it makes room for others. */
  prompt_ms_max: 1_000,
  /** Of an answer: what comes beyond is not read. */
  answer_bytes_max: 4_096,
  /** The waits before each attempt but the first; after the last of them a message is a dead letter. */
  retry_ms: [5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
  /** Each wait is longer by up to this part of it, so that what failed together does not come back together. */
  retry_jitter: 0.2,
  retry_after_ms_max: 24 * HOUR,
  /** Whatever became of its attempts, a message is given up at this age. */
  message_ms_max: 96 * HOUR,
  /** A receiver that failed so often in a row is left alone for a while, which doubles with each further failure. */
  failures_until_rest: 5,
  rest_ms_min: 30_000,
  rest_ms_max: HOUR,
  /** After so many, which is four days of them, it is for longer. */
  failures_until_long_rest: 100,
  long_rest_ms: 24 * HOUR,
  /** For so long one book's messages are sent in one go, while other books may wait. */
  turn_ms_max: 5_000,
} as const;
