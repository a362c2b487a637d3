/** How much of the board is read at once. Units stand last in each name. */
export const boardReadLimits = {
  search_chars_max: 200,
  search_hits_default: 20,
  search_hits_max: 50,
  /** Of each kind so many are read one by one, before all that match are sought by their index. */
  search_newest_first: 500,
  /** Then the search is given up. */
  search_ms_max: 500,
  /** In one process: each holds a connection to the database for as long as it takes. */
  searches_at_once_max: 4,
  search_wait_ms_max: 2_000,
  searches_waiting_per_asker_max: 8,
  /** Of two words, how much of their trigrams they have in common; pg_trgm's own is 0.6, which no swapped letters reach. */
  search_similarity_min: 0.4,
  feed_entries: 50,
} as const;
