/*
 * Paid calls go first. One turn of the event loop serves every request that has arrived, so 200 unpaid ones would come between each two
 * steps of a paid call. So a turn lets in only as many as fit a slice of time, and beside a paid call free requests rest between slices.
 */

/** Turns of the event loop and its clock. */
export interface Turns {
  readonly now_ms: () => number;
  /** Runs each of so many steps in the next turn, after what has arrived by then; the promises of a step before the next one. */
  next(steps: number, step: () => void): void;
  /** Runs it once, later. */
  after(ms: number, run: () => void): void;
}

export const eventLoop: Turns = {
  now_ms: () => performance.now(),
  next(steps, step) {
    for (let at = 0; at < steps; at++) setImmediate(step);
  },
  after: (ms, run) => void setTimeout(run, ms).unref(),
};

/** How much is let in. */
export interface Share {
  /** A turn lets in no more once this time is used. It always lets in one. */
  readonly slice_ms: number;
  /** Free requests that may be in progress at once, because their later steps take time too. */
  readonly underway_max: number;
  /** How long no free request is let in afterwards, as a multiple of the time that the last ones took. */
  readonly rests: number;
}

export interface PrecedenceLimits {
  /** While no paid call is in progress. */
  readonly alone: Share;
  /** While one is that has begun just now, or the next one is expected. */
  readonly beside_new: Share;
  /** While one is that waits for its hub, for example, or streams: a delay matters less to it, and it may last for minutes. */
  readonly beside_long: Share;
  readonly new_ms_max: number;
  /** Time after a paid call in which the next one is expected: a client that pays call after call finds no crowd in between. */
  readonly lingering_ms: number;
  /** A request in progress for longer waits for something else than this process, and no longer counts. */
  readonly counted_ms_max: number;
  /** From then on a waiting request is late: it goes before others, and paid calls no longer delay it. */
  readonly wait_ms_max: number;
  /** Requests that wait, in total and of one caller; separately for those with a payment or key and those without. */
  readonly waiting_max: number;
  readonly waiting_per_caller_max: number;
  /** A verified call lets in so many of the next payments and keys of its caller on arrival, up to a maximum, for so many callers. */
  readonly passes_per_call: number;
  readonly passes_max: number;
  readonly callers_with_passes_max: number;
}

export const precedenceLimits: PrecedenceLimits = {
  alone: { slice_ms: 2, underway_max: 16, rests: 0 },
  beside_new: { slice_ms: 0.5, underway_max: 1, rests: 8 },
  beside_long: { slice_ms: 0.5, underway_max: 1, rests: 2 },
  new_ms_max: 100,
  lingering_ms: 10,
  counted_ms_max: 5,
  wait_ms_max: 5_000,
  waiting_max: 10_000,
  waiting_per_caller_max: 5_000,
  passes_per_call: 2,
  passes_max: 256,
  callers_with_passes_max: 10_000,
};

/** A request, from its arrival until it is answered or its client has disconnected. */
interface Entrant {
  readonly line: Line;
  readonly caller: string;
  readonly run: () => void;
  /** Time of its arrival; then of its start. */
  since_ms: number;
}

/** Steps that are requested for one turn, most of which use no time if the slice is used up. */
const STEPS_MAX = 32;

/** Requests that wait, by caller, in the order in which the callers are served. */
class Line {
  size = 0;
  readonly #waiting = new Map<string, Set<Entrant>>();

  add(entrant: Entrant): void {
    const own = this.#waiting.get(entrant.caller);
    if (own) own.add(entrant);
    else this.#waiting.set(entrant.caller, new Set([entrant]));
    this.size++;
  }

  waitingOf(caller: string): number {
    return this.#waiting.get(caller)?.size ?? 0;
  }

  /** The oldest request of the caller whose turn it is; the caller's next one waits for all other callers. */
  shift(): Entrant | null {
    for (const [caller, own] of this.#waiting) {
      for (const entrant of own) {
        this.#waiting.delete(caller);
        this.#waiting.set(caller, own);
        return entrant;
      }
    }
    return null;
  }

  delete(entrant: Entrant): boolean {
    const own = this.#waiting.get(entrant.caller);
    if (!own?.delete(entrant)) return false;
    if (own.size === 0) this.#waiting.delete(entrant.caller);
    this.size--;
    return true;
  }
}

/** Decides which request is served when. One per process. */
export class Precedence {
  readonly #turns: Turns;
  readonly #limits: PrecedenceLimits;
  readonly #paid = new Set<object>();
  /** When a paid call began last, and when one ended last. */
  #paid_since_ms = Number.NEGATIVE_INFINITY;
  #paid_until_ms = Number.NEGATIVE_INFINITY;
  /** Passes by caller, the least recent first. */
  readonly #passes = new Map<string, number>();
  /** Requests with a payment or key, which is not verified yet, and all others. The lines take turns. */
  readonly #presenting = new Line();
  readonly #free = new Line();
  #presenting_next = true;
  /** Of both lines, oldest first. */
  readonly #waiting = new Set<Entrant>();
  /** Free requests in progress, oldest first. */
  readonly #underway = new Set<Entrant>();
  /** When the free requests that were let in last began and ended. */
  #busy_since_ms = Number.NEGATIVE_INFINITY;
  #busy_until_ms = Number.NEGATIVE_INFINITY;
  #steps = 0;
  #turn_began_ms: number | null = null;
  /** The step before, in the same turn, began a free request. */
  #has_begun = false;
  #wakes_at_ms = Number.POSITIVE_INFINITY;
  #late = 0;

  constructor(turns: Turns = eventLoop, limits = precedenceLimits) {
    this.#turns = turns;
    this.#limits = limits;
  }

  /** Paid calls that go first now. */
  get paid(): number {
    return this.#paid.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Requests that were let in late. */
  get late(): number {
    return this.#late;
  }

  /** The payment of this call was verified or its key accepted: until `end` it goes before all requests of which that is not known. */
  begin(call: object, caller: string): void {
    const { passes_per_call, passes_max, callers_with_passes_max } = this.#limits;
    this.#paid_since_ms = this.#turns.now_ms();
    this.#paid.add(call);
    const passes = this.#passes.get(caller) ?? 0;
    this.#passes.delete(caller);
    this.#passes.set(caller, Math.min(passes + passes_per_call, passes_max));
    if (this.#passes.size <= callers_with_passes_max) return;
    for (const least_recent of this.#passes.keys()) {
      this.#passes.delete(least_recent);
      return;
    }
  }

  end(call: object): void {
    if (this.#paid.delete(call)) this.#paid_until_ms = this.#turns.now_ms();
  }

  /**
   * Runs a request, at once or when it is its turn. The result must be called when it was answered or its client has disconnected; it
   * then no longer waits. Null if too many wait; then it never runs.
   */
  enter(caller: string, presents: boolean, run: () => void): (() => void) | null {
    if (presents && this.#usePass(caller)) {
      run();
      return () => {};
    }
    const now_ms = this.#turns.now_ms();
    const line = presents ? this.#presenting : this.#free;
    const entrant: Entrant = { line, caller, run, since_ms: now_ms };
    if (this.#mayBeginAt(now_ms, presents)) {
      this.#begin(entrant, now_ms);
      return () => this.#leave(entrant);
    }
    const { waiting_max, waiting_per_caller_max } = this.#limits;
    if (line.size >= waiting_max || line.waitingOf(caller) >= waiting_per_caller_max) return null;
    line.add(entrant);
    this.#waiting.add(entrant);
    this.#serve();
    return () => this.#leave(entrant);
  }

  /** The same for an operation on a socket: resolves when it is its turn. Null if too many wait. */
  async turn(caller: string, left?: AbortSignal): Promise<(() => void) | null> {
    const { promise, resolve } = Promise.withResolvers<() => void>();
    const leave = this.enter(caller, false, () => resolve(() => leave?.()));
    if (leave === null) return null;
    const hangUp = () => {
      leave();
      resolve(() => {});
    };
    left?.addEventListener('abort', hangUp, { once: true });
    return promise.finally(() => left?.removeEventListener('abort', hangUp));
  }

  /** Whether a request may begin on its arrival: none waits that goes before it, and this turn has time left. */
  #mayBeginAt(now_ms: number, presents: boolean): boolean {
    if ((presents ? this.#presenting.size : this.#waiting.size) > 0) return false;
    const share = this.#share(now_ms);
    if (!presents && this.#freeFrom(share, now_ms) > now_ms) return false;
    this.#turn_began_ms ??= now_ms;
    // Without a step nothing would find that the turn has ended.
    if (this.#steps === 0) this.#request(1);
    return now_ms < this.#turn_began_ms + share.slice_ms;
  }

  #usePass(caller: string): boolean {
    const passes = this.#passes.get(caller) ?? 0;
    if (passes === 0) return false;
    this.#passes.set(caller, passes - 1);
    return true;
  }

  #leave(entrant: Entrant): void {
    if (entrant.line.delete(entrant)) this.#waiting.delete(entrant);
    if (!this.#underway.delete(entrant)) return;
    this.#busy_until_ms = this.#turns.now_ms();
    this.#serve();
  }

  /** Requests steps in the next turn, or later if nothing may be let in before. */
  #serve(): void {
    if (this.#steps > 0 || this.#waiting.size === 0) return;
    const now_ms = this.#turns.now_ms();
    const from_ms = this.#presenting.size > 0 ? now_ms : this.#freeFrom(this.#share(now_ms), now_ms);
    if (from_ms > now_ms) {
      this.#wake(from_ms, now_ms);
      return;
    }
    // The last step lets in nothing: it finds how long the one before took.
    this.#request(Math.min(this.#waiting.size, STEPS_MAX) + 1);
  }

  #request(steps: number): void {
    this.#steps = steps;
    this.#turns.next(steps, this.#step);
  }

  #wake(at_ms: number, now_ms: number): void {
    if (this.#wakes_at_ms <= at_ms) return;
    this.#wakes_at_ms = at_ms;
    this.#turns.after(at_ms - now_ms, () => {
      this.#wakes_at_ms = Number.POSITIVE_INFINITY;
      this.#serve();
    });
  }

  readonly #step = (): void => {
    this.#steps--;
    const now_ms = this.#turns.now_ms();
    if (this.#has_begun) this.#busy_until_ms = now_ms;
    this.#has_begun = false;
    if (this.#steps === 0) {
      this.#turn_began_ms = null;
      this.#serve();
      return;
    }
    const share = this.#share(now_ms);
    const is_first = this.#turn_began_ms === null;
    this.#turn_began_ms ??= now_ms;
    if (!is_first && now_ms - this.#turn_began_ms >= share.slice_ms) return;
    const entrant = this.#next(share, now_ms);
    if (entrant !== null) this.#begin(entrant, now_ms);
  };

  #begin(entrant: Entrant, now_ms: number): void {
    const { slice_ms } = this.#share(now_ms);
    if (this.#isLate(entrant, now_ms)) this.#late++;
    entrant.line.delete(entrant);
    this.#waiting.delete(entrant);
    entrant.since_ms = now_ms;
    if (entrant.line === this.#free) {
      this.#underway.add(entrant);
      this.#has_begun = true;
      if (now_ms >= this.#busy_since_ms + slice_ms) this.#busy_since_ms = now_ms;
    }
    entrant.run();
  }

  /** While a request is late, paid calls delay nothing. */
  #share(now_ms: number): Share {
    const { alone, beside_new, beside_long, new_ms_max, lingering_ms } = this.#limits;
    const is_paid = this.#paid.size > 0;
    if (this.#latest(now_ms) !== null) return alone;
    const is_new = now_ms < this.#paid_since_ms + new_ms_max;
    if (is_new && (is_paid || now_ms < this.#paid_until_ms + lingering_ms)) return beside_new;
    return is_paid ? beside_long : alone;
  }

  /** The request that has waited for longest, if it is late. */
  #latest(now_ms: number): Entrant | null {
    for (const oldest of this.#waiting) return this.#isLate(oldest, now_ms) ? oldest : null;
    return null;
  }

  #isLate({ since_ms }: Entrant, now_ms: number): boolean {
    return now_ms - since_ms >= this.#limits.wait_ms_max;
  }

  #next(share: Share, now_ms: number): Entrant | null {
    const is_free_next = this.#free.size > 0 && this.#freeFrom(share, now_ms) <= now_ms;
    const late = this.#latest(now_ms);
    if (late !== null && (is_free_next || late.line === this.#presenting)) return late;
    const presents = this.#presenting.size > 0 && (this.#presenting_next || !is_free_next);
    this.#presenting_next = !presents;
    if (presents) return this.#presenting.shift();
    return is_free_next ? this.#free.shift() : null;
  }

  /** From when on a free request may begin. */
  #freeFrom({ slice_ms, underway_max, rests }: Share, now_ms: number): number {
    const oldest_ms = this.#oldestCounted(now_ms);
    const later_ms = oldest_ms + this.#limits.counted_ms_max;
    if (this.#underway.size >= underway_max) return later_ms;
    const in_slice = now_ms < this.#busy_since_ms + slice_ms;
    if (rests === 0 || in_slice) return now_ms;
    if (this.#underway.size > 0) return later_ms;
    return Math.max(now_ms, this.#busy_until_ms + rests * (this.#busy_until_ms - this.#busy_since_ms));
  }

  /** When the oldest free request in progress began, of those that still count. */
  #oldestCounted(now_ms: number): number {
    for (const entrant of this.#underway) {
      if (now_ms - entrant.since_ms < this.#limits.counted_ms_max) return entrant.since_ms;
      this.#underway.delete(entrant);
      this.#busy_until_ms = now_ms;
    }
    return now_ms;
  }
}
