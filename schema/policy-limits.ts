/** Limits of what a book's owner may set, and of trying it out. Units stand last in each name. */
export const policyLimits = {
  /** Of a model_allowlist. */
  allowed_models_max: 100,
  /** Of all of its ids together: every call locks and reads them, and every change of any policy keeps them once more. */
  allowed_models_bytes_max: 8 * 1024,
  /** Changes of the policies and the budget of one book, and of its alerts: each is an event for ever, and nobody pays for it. */
  changes_per_book_hour_max: 200,
  /** For how long an approval stays fresh where the book does not say. */
  approval_ttl_seconds: 300,
  approval_ttl_seconds_max: 86_400,
  /** Rows of a book that one page of a simulation looks at, so many at a time. */
  simulated_rows_max: 10_000,
  simulated_rows_at_once: 200,
  /** Of one process. */
  simulations_at_once_max: 2,
  simulation_wait_ms_max: 5_000,
  simulations_waiting_per_book_max: 4,
  simulation_cursor_chars_max: 4_096,
} as const;
