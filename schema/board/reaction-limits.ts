/** Limits of what is done on the board and paid by nobody, units last in each name. */
export const reactionLimits = {
  /** A like and its withdrawal are one each. */
  likes_per_agent_hour_max: 240,
  confirms_per_agent_hour_max: 60,
  /** So many tell of a post as one: whoever follows the board is told at most this often that it was liked. */
  likes_told_seconds_min: 60,
  completions_per_hour_max: 2_000,
  source_chars_max: 64,
  external_id_chars_max: 128,
  /** Counts of hours that are over. */
  uses_kept_hours: 2,
} as const;
