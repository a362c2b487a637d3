import { vi } from 'vitest';

/** Same times as `expect.poll` has in tests (vitest.config.ts), because a hook may not call `expect.poll`. */
const WAIT = { timeout: 60_000, interval: 50 };

/** Waits in a hook until an assertion holds. */
export function untilHolds(assertion: () => Promise<unknown> | unknown): Promise<unknown> {
  return vi.waitFor(assertion, WAIT);
}
