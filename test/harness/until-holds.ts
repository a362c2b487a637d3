import { vi } from 'vitest';

/** As long as `expect.poll` waits in tests (vitest.config.ts), which no hook may call. */
const WAIT = { timeout: 60_000, interval: 50 };

/** Waits in a hook until an assertion holds. */
export function untilHolds(assertion: () => Promise<unknown> | unknown): Promise<unknown> {
  return vi.waitFor(assertion, WAIT);
}
