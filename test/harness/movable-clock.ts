import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../subgraphs/clock.ts';

export interface MovableClock extends Clock {
  /** Moves the time forward until the test ends. */
  pass(seconds: number): void;
  /** Moves the time forward until the file ends: what has expired stays expired. */
  passForGood(seconds: number): void;
}

/** The system's clock, which a test may move forward, so that no test waits for an expiry. */
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
