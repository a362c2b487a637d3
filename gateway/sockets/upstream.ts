import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionResult, GraphQLError } from 'graphql';
import type { SubscribeResult } from '../graph/subscribe.ts';
import { POSITION } from './shareable.ts';

/** One event of a live field and its position. */
export interface NumberedEvent {
  readonly position: number;
  readonly result: ExecutionResult;
}

/** Executes the field from a position on. Null and negative positions have the meaning described at `@live`. */
export type Execute = (after: number | null) => Promise<SubscribeResult>;

const AWAY_REST_MS = 1_000;

/**
 * The events of a live field from a position on, without gap. While the database is unavailable, it tries again, so that subscribers do not
 * notice.
 */
export class Upstream {
  readonly #execute: Execute;
  readonly #response_name: string;
  readonly #ended = new AbortController();
  #after: number | null;
  #events: AsyncIterableIterator<ExecutionResult> | null = null;

  constructor(execute: Execute, response_name: string, after: number | null) {
    this.#execute = execute;
    this.#response_name = response_name;
    this.#after = after;
  }

  /** Opens the source. Null if it was opened, or else the result with the errors of the request. @throws the errors of the source */
  async open(): Promise<ExecutionResult | null> {
    const events = await this.#execute(this.#after);
    if (!(Symbol.asyncIterator in events)) return events;
    this.#events = events;
    if (this.#ended.signal.aborted) await this.#giveBack();
    return null;
  }

  /** The next event. Null after the end. @throws the errors of the request */
  async next(): Promise<NumberedEvent | null> {
    while (!this.#ended.signal.aborted) {
      const refused = this.#events ? null : await this.open();
      if (refused && !isAway(refused)) throw refused.errors?.[0] ?? new Error('a subscription was refused');
      const event = await this.#events?.next();
      if (event?.done) return null;
      if (event && !isAway(event.value)) {
        const numbered = this.#number(event.value);
        if (numbered) return numbered;
        continue;
      }
      if (event) this.#standBefore(event.value);
      await this.#rest();
    }
    return null;
  }

  /** Closes the source. Never throws, because a source that fails to close yields nothing more either. */
  async return(): Promise<void> {
    this.#ended.abort();
    await this.#giveBack();
  }

  async #giveBack(): Promise<void> {
    await this.#events?.return?.().catch(() => {});
  }

  async #rest(): Promise<void> {
    await this.#giveBack();
    this.#events = null;
    await sleep(AWAY_REST_MS, null, { signal: this.#ended.signal }).catch(() => {});
  }

  /**
   * Sets the position before a failed event, so that a subscriber to new events does not miss those that came while the source was
   * unavailable.
   */
  #standBefore(result: ExecutionResult): void {
    if (this.#after !== null) return;
    const position = Number(this.#eventIn(result)?.[POSITION]);
    if (!Number.isSafeInteger(position)) throw result.errors?.[0] ?? new Error('an event without a position');
    this.#after = position - 1;
  }

  #eventIn({ data }: ExecutionResult): Record<string, unknown> | null {
    return (data?.[this.#response_name] ?? null) as Record<string, unknown> | null;
  }

  /** Adds the position to an event. A failed event has none, so it gets the position after the last one. Null if that is unknown. */
  #number(result: ExecutionResult): NumberedEvent | null {
    const event = this.#eventIn(result);
    if (!event && this.#after !== null && this.#after < 0) return null;
    const position = event ? Number(event[POSITION]) : (this.#after ?? Number.NaN) + 1;
    if (event) delete event[POSITION];
    if (!Number.isSafeInteger(position)) throw result.errors?.[0] ?? new Error('an event without a position');
    this.#after = position;
    return { position, result };
  }
}

function isAway({ errors }: ExecutionResult): boolean {
  return errors?.some((error: GraphQLError) => error.extensions?.code === 'unavailable') ?? false;
}
