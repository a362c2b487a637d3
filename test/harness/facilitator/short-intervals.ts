import { configuredSettling } from '../../../gateway/rails/open-rails.ts';

const times = {
  verify_ms: 5_000,
  settle_ms: 20_000,
  seen_ms: 1_000,
  poll_ms: 50,
  pace: { rest_ms: 4_000, rest_ms_max: 4_000 },
};

/** For a service that looks for payments and asks its facilitator again sooner than an operator's. */
export const shortIntervals = { openSettling: configuredSettling(times) };

/**
 * Also waits for a facilitator so briefly that a test of time-outs need not wait long. A busy machine takes longer for an answer that
 * does come, so other tests use `shortIntervals`.
 */
export const shortTimeouts = { openSettling: configuredSettling({ ...times, settle_ms: 2_500 }) };
