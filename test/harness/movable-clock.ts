import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../subgraphs/clock.ts';

/** The system's clock, which a test may put forward until it ends: nobody waits for what is to be out of time. */
export function movableClock(): Clock & { pass(seconds: number): void } {
  let ahead_ms = 0;
  return {
    now_ms: () => systemClock.now_ms() + ahead_ms,
    pass(seconds) {
      ahead_ms += seconds * 1_000;
      onTestFinished(() => {
        ahead_ms = 0;
      });
    },
  };
}
