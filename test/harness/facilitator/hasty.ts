import { configuredSettling } from '../../../gateway/rails/open-rails.ts';

/**
 * For a service that waits less long for a facilitator and asks it again sooner: what is said of time-outs can then be seen
 * without waiting for them.
 */
export const hasty = {
  openSettling: configuredSettling({
    verify_ms: 5_000,
    settle_ms: 2_500,
    seen_ms: 1_000,
    poll_ms: 50,
    pace: { rest_ms: 4_000, rest_ms_max: 4_000 },
  }),
};
