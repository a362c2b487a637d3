import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import type { Charge, ChargeLegs, ChargeStream, SettlementStatus } from '../../subgraphs/charge-port.ts';
import type { ResponseHeaders } from '../../subgraphs/context.ts';
import type { Lap, Stopwatch } from '../../subgraphs/stopwatch.ts';
import type { Metrics } from './metrics.ts';
import { SERVER_TIMING } from './requests.ts';

interface Underway {
  /** Coordinate of the paid field. */
  readonly field: string;
  readonly stopwatch: Stopwatch;
}

/** Counts paid calls for operators: their outcomes, the duration of each step, and the calls in progress. */
export class PaidCalls {
  readonly #metrics: Metrics;
  readonly #underway = new Set<Underway>();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    metrics.watch('svc_paid_calls_underway', 'Paid calls under way, by the step that they are at', ['step'], () => {
      const steps = Map.groupBy(this.#underway, ({ stopwatch }) => stopwatch.step ?? 'stream');
      return [...steps].map(([step, calls]) => [{ step }, calls.length] as const);
    });
  }

  /** Calls that have not ended, for the log of a stop that no longer waits for them. */
  get underway(): readonly JsonObject[] {
    return [...this.#underway].map(({ field, stopwatch }) => ({ field, step: stopwatch.step ?? 'stream' }));
  }

  charge(charge: Charge): Charge {
    return (paid, args, context) => this.#seen(paid.field, context.response, () => charge(paid, args, context));
  }

  chargeLegs(charge: ChargeLegs): ChargeLegs {
    return (legs, args, context) => this.#seen(legs.first.field, context.response, () => charge(legs, args, context));
  }

  /** Counts a streamed call as in progress until it is recorded. By then its reader has the whole response, or has disconnected. */
  chargeStream(charge: ChargeStream): ChargeStream {
    return async (paid, args, context) => {
      const streamed = await this.#seen(paid.field, context.response, () => charge(paid, args, context));
      const call = this.#begin(paid.field, context.response.stopwatch);
      const from_ms = performance.now();
      const ended = () => {
        this.#underway.delete(call);
        this.#observe(paid.field, [{ step: 'stream', ms: performance.now() - from_ms }]);
      };
      streamed.recorded.then(ended, ended);
      return streamed;
    };
  }

  async #seen<T extends { readonly settlement_status: SettlementStatus }>(
    field: string,
    { headers, stopwatch }: ResponseHeaders,
    charge: () => Promise<T>,
  ): Promise<T> {
    const call = this.#begin(field, stopwatch);
    let outcome = 'internal';
    try {
      const charged = await charge();
      outcome = charged.settlement_status;
      return charged;
    } catch (error) {
      if (error instanceof Refusal) outcome = error.code;
      throw error;
    } finally {
      stopwatch.end();
      this.#underway.delete(call);
      this.#metrics.paidCalls.inc({ field, outcome });
      const { laps } = stopwatch;
      this.#observe(field, laps);
      headers[SERVER_TIMING] = serverTiming(laps);
    }
  }

  #begin(field: string, stopwatch: Stopwatch): Underway {
    const call = { field, stopwatch };
    this.#underway.add(call);
    return call;
  }

  #observe(field: string, laps: readonly { readonly step: Lap['step'] | 'stream'; readonly ms: number }[]): void {
    for (const { step, ms } of laps) this.#metrics.steps.observe({ field, step }, ms / 1e3);
  }
}

/** Value of the header Server-Timing (W3C Server-Timing §3): names are tokens, and durations are milliseconds. */
function serverTiming(laps: readonly Lap[]): string {
  return laps.map(({ step, ms }) => `${step};dur=${ms.toFixed(2)}`).join(', ');
}

/** Pause between two steps, so that other work can run, and calls that come right after the start run first. */
const REST_MS = 50;

interface IdleParts {
  /** No step begins while this returns true. */
  isPaying(): boolean;
  onFailure(error: unknown): void;
}

/**
 * Runs work that was postponed at the start because no call needs it at once. No step begins during a paid call. `work` awaits `rest`
 * before each step.
 */
export function whenIdle(
  work: (rest: () => Promise<void>) => Promise<void>,
  { isPaying, onFailure }: IdleParts,
): { stop(): void } {
  const stopping = new AbortController();
  const rest = async () => {
    do await sleep(REST_MS, undefined, { ref: false, signal: stopping.signal });
    while (isPaying());
  };
  void work(rest).catch(error => {
    if (!stopping.signal.aborted) onFailure(error);
  });
  return { stop: () => stopping.abort() };
}
