import { setTimeout as sleep } from 'node:timers/promises';

/** Between two steps others have their turn; and whoever has just seen that the service is up goes first. */
const REST_MS = 50;

interface IdleParts {
  /** While it is true nothing is done. */
  paying(): boolean;
  failed(error: unknown): void;
}

/**
 * What a start leaves undone, because no call wants it at once: done in steps behind the calls, none of them while somebody
 * pays. `work` awaits `rest` before each step.
 */
export function whenIdle(
  work: (rest: () => Promise<void>) => Promise<void>,
  { paying, failed }: IdleParts,
): { stop(): void } {
  const stopping = new AbortController();
  const rest = async () => {
    do await sleep(REST_MS, undefined, { ref: false, signal: stopping.signal });
    while (paying());
  };
  void work(rest).catch(error => {
    if (!stopping.signal.aborted) failed(error);
  });
  return { stop: () => stopping.abort() };
}
