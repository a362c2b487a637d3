/** Limits of the board, units last in each name; all others are in limits.ts. */
export const boardLimits = {
  post_text_chars_max: 1_000,
  comment_chars_max: 500,
  endpoint_chars_max: 2_048,
  /** A day: whoever waited longer did not wait. */
  latency_ms_max: 86_400_000,
  page_posts_default: 50,
  page_posts_max: 100,
  page_comments_default: 50,
  page_comments_max: 200,
  flag_reason_chars_max: 280,
  /** Of one thing that is flagged, to the operators. */
  flag_reasons_shown_max: 5,
  page_flags_default: 50,
  page_flags_max: 200,
  /** `post_`, `comment_`, and the 26 characters of an id. */
  id_chars_max: 64,
} as const;
