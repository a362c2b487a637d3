import type { ExecutionResult } from 'graphql';
import type { Delivery } from './delivery.ts';
import type { NextMessage } from './frame.ts';
import type { EventReceiver, Group } from './group.ts';
import type { Upstream } from './upstream.ts';

type Done = IteratorResult<ExecutionResult>;
const done: Done = { done: true, value: undefined };

/**
 * One operation in a group. While it is behind the group, it reads the events itself at the pace of its socket, and graphql-ws sends the
 * results of next(). Once it has caught up, everything that it read has been sent. From then on the group writes to its socket, and next()
 * stays pending.
 */
export class Member implements AsyncIterableIterator<ExecutionResult>, EventReceiver {
  readonly #group: Group;
  readonly #delivery: Delivery;
  /** Position of the last event that was sent. Null if only new events are requested and the newest position is not known yet. */
  #position: number | null;
  #live = false;
  #replay: Upstream | null = null;
  /** Set when no more events come: the error to throw, or null at the end. */
  #over: { readonly fault: unknown } | null = null;
  #wake: () => void = () => {};

  constructor(group: Group, delivery: Delivery, after: number | null) {
    this.#group = group;
    this.#delivery = delivery;
    this.#position = after;
  }

  async next(): Promise<Done> {
    try {
      while (!this.#over) {
        if (this.#delivery.gate.held) await this.#delivery.gate.awaitPass();
        const event = await this.#behind();
        if (event) return { done: false, value: event };
        if (this.#live) await this.#woken();
      }
    } catch (fault) {
      // return() is not called on an iterator that threw, so the member ends here.
      this.end(fault);
    }
    if (this.#over?.fault) throw this.#over.fault;
    return done;
  }

  /**
   * Called by the group with an event. A member whose socket cannot be written to now does not keep it, and reads it from the source later.
   */
  offer(message: NextMessage): void {
    if (!this.#live || this.#position === null || message.position <= this.#position) return;
    if (message.position > this.#position + 1 || this.#delivery.gate.held) this.#fallBehind();
    else if (this.#delivery.send(message)) this.#position = message.position;
    else this.end(null);
  }

  end(fault: unknown): void {
    this.#over ??= { fault };
    this.#fallBehind();
    void this.#replay?.return();
    this.#group.leave(this);
  }

  async return(): Promise<Done> {
    this.end(null);
    return done;
  }

  async throw(): Promise<Done> {
    return this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next event, if the group is ahead. Null if the event comes from the group, or no event comes. */
  async #behind(): Promise<ExecutionResult | null> {
    if (this.#join()) return null;
    if (this.#position !== null && !this.#replay && (await this.#group.fill(this.#position))) return null;
    // The member may have ended in the meantime, and nothing would close a source that is opened here.
    if (this.#over) return null;
    this.#replay ??= this.#group.from(this.#position);
    await this.#group.pace.step();
    const event = await (this.#position === null ? this.#firstOf(this.#replay) : this.#replay.next());
    // A replay ends when this member closes it, or with the group's source.
    if (!event) return null;
    // An old event shows the current state, which may contain changes after the end of the session.
    await this.#delivery.gate.awaitPass();
    this.#position = event.position;
    return event.result;
  }

  /** The next new event. Null if the group has begun in the meantime with the newest event. */
  async #firstOf(replay: Upstream) {
    const first = replay.next();
    const newest = await Promise.race([this.#group.begun, first.then(() => null)]);
    // The first event of a book has no event before it to start from, so it comes from the replay too.
    if (newest === null || newest === 1) return first;
    first.catch(() => {});
    this.#position = newest;
    return null;
  }

  /**
   * Joins the group if the group has all events that the member lacks. False if it does not. This runs synchronously, so that no event can
   * come in between.
   */
  #join(): boolean {
    if (this.#over) return true;
    this.#position ??= this.#group.newest;
    if (this.#position === null) return false;
    const missed = this.#group.since(this.#position);
    if (missed === null) return false;
    void this.#replay?.return();
    this.#replay = null;
    this.#live = true;
    for (const message of missed) this.offer(message);
    return true;
  }

  #fallBehind(): void {
    this.#live = false;
    this.#wake();
  }

  async #woken(): Promise<void> {
    await new Promise<void>(resolve => {
      this.#wake = resolve;
    });
  }
}
