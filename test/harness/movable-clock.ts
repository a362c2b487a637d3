import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../subgraphs/clock.ts';

export interface MovableClock extends Clock {
  /** Until the test ends. */
  pass(seconds: number): void;
  /** Until the file ends: whatever was kept by an earlier time stays out of time. */
  passForGood(seconds: number): void;
}

/** The system's clock, which a test may put forward: nobody waits for what is to be out of time. */
export function movableClock(): MovableClock {
  let ahead_ms = 0;
  return {
    now_ms: () => systemClock.now_ms() + ahead_ms,
    pass(seconds) {
      ahead_ms += seconds * 1_000;
      onTestFinished(() => {
        ahead_ms -= seconds * 1_000;
      });
    },
    passForGood(seconds) {
      ahead_ms += seconds * 1_000;
    },
  };
}
