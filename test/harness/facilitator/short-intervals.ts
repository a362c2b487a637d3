import { configuredSettling } from '../../../gateway/rails/open-rails.ts';

const times = {
  verify_ms: 5_000,
  settle_ms: 20_000,
  seen_ms: 1_000,
  poll_ms: 50,
  pace: { rest_ms: 4_000, rest_ms_max: 4_000 },
};

/** For a service that looks for payments and retries its facilitator sooner than in production. */
export const shortIntervals = { openSettling: configuredSettling(times) };

/**
 * In addition waits so briefly for a facilitator that a test of time-outs is short. On a busy machine a good answer can take longer than
 * that, so other tests use `shortIntervals`.
 */
export const shortTimeouts = { openSettling: configuredSettling({ ...times, settle_ms: 2_500 }) };
