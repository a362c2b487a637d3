/** Limits of what is written on books and paid by nobody (inflows, disputes, escrows) or on the board (likes, confirms), all of it together, in one process. */
export const freeWriteLimits = {
  /** Beside the four connections of jobs: of the pool's sixteen half is left to those who pay. */
  at_once_max: 4,
  wait_ms_max: 5_000,
  waiting_per_book_max: 64,
} as const;
