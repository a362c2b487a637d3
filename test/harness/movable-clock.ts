import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../subgraphs/clock.ts';

export interface MovableClock extends Clock {
  /** Moves the time forward. It is moved back when the test ends. */
  pass(seconds: number): void;
  /** Moves the time forward until the file ends, so that expired items stay expired. */
  passForGood(seconds: number): void;
}

/** The system's clock, which a test can move forward instead of waiting for an expiry. */
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
