import type { FailedLooks, LookRest } from '../../subgraphs/book/ingest/failed-looks.ts';
import { rateHeaders } from './headers.ts';
import type { Meter } from './meter.ts';

/** Of all for whom a look is counted, in this process's memory: the longest rest of any of them. */
export function openFailedLooks(meter: Meter): FailedLooks {
  return {
    rest(who) {
      const rests = who.flatMap((caller): LookRest[] => {
        const turn = meter.look(caller);
        if (turn.kind === 'within') return [];
        return [{ seconds: turn.retry_after_seconds, headers: rateHeaders('ingests', meter.rate, turn) }];
      });
      return rests.sort((one, other) => other.seconds - one.seconds)[0] ?? null;
    },
    failed(who) {
      for (const caller of who) meter.take(caller);
    },
  };
}
