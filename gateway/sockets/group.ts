import { setImmediate as nextTurn, setImmediate as turn } from 'node:timers/promises';
import type { ExecutionResult } from 'graphql';
import { NextMessage } from './frame.ts';
import { type Execute, Upstream } from './upstream.ts';

/** Number of events that are kept for a while, so that readers that come slightly later need not execute them again. */
const REMEMBERED_MAX = 64;
/** Number of deliveries after which the event loop runs other work, because an event to ten thousand readers must not delay a paid call. */
const DELIVERIES_PER_TURN_MAX = 250;
/** The same while a paid call is in progress, as time. */
const DELIVERING_MS_MAX = 0.5;

/** Receives the events of a group. */
export interface EventReceiver {
  offer(message: NextMessage): void;
  /** Called when no more events come. `fault`: null if the source has ended, or its error. */
  end(fault: unknown): void;
}

interface GroupSource {
  readonly execute: Execute;
  readonly response_name: string;
  /** Resolves when every session end that was committed before the call has been announced. */
  catchUp(): Promise<void>;
  /** Limits the events that are executed for one member only. Awaited before each of them. */
  readonly pace: Pace;
  /** Whether a paid call is in progress. */
  hasPaid(): boolean;
  /** Number of bytes of events that may be remembered now. A larger event is not remembered. */
  remembered_bytes_max(): number;
  /** Called when the last member has left, or the source has ended. */
  onRelease(group: Group): void;
}

/**
 * All subscribers to the same events of a live field with the same rights. Each event is executed once and encoded once. The source begins
 * with the newest event, so that the distance of each member is known. A member that is further back reads by itself until it has caught
 * up.
 */
export class Group {
  /**
   * Null if the source was opened, or else the result that refuses it. The promise is kept, so that concurrent members wait for the same
   * source.
   */
  readonly opened: Promise<ExecutionResult | null>;
  /** Position of the first event from the source. */
  readonly begun: Promise<number>;
  readonly #source: GroupSource;
  readonly #upstream: Upstream;
  readonly #members = new Set<EventReceiver>();
  readonly #begin: (position: number) => void;
  #newest: number | null = null;
  /** The events up to the newest one, without gaps. Empty if there is no memory for them. */
  #remembered: NextMessage[] = [];
  #remembered_bytes = 0;
  #filling: Promise<boolean> | null = null;

  constructor(source: GroupSource) {
    this.#source = source;
    const begun = Promise.withResolvers<number>();
    this.begun = begun.promise;
    this.#begin = begun.resolve;
    this.#upstream = new Upstream(source.execute, source.response_name, -1);
    this.opened = this.#upstream.open();
    void this.#run();
  }

  get newest(): number | null {
    return this.#newest;
  }

  enter(member: EventReceiver): void {
    this.#members.add(member);
  }

  leave(member: EventReceiver): void {
    if (!this.#members.delete(member) || this.#members.size > 0) return;
    this.#source.onRelease(this);
    void this.#upstream.return();
  }

  get pace(): Pace {
    return this.#source.pace;
  }

  /** The events after a position, from a separate source. */
  from(position: number | null): Upstream {
    return new Upstream(this.#source.execute, this.#source.response_name, position);
  }

  /**
   * Reads and remembers the events after a position that is not far back. They are executed once for all members that lack them, because a
   * thousand may reconnect after an interruption. False if the position is too far back or the events are too large; each member then reads
   * by itself.
   */
  async fill(position: number): Promise<boolean> {
    if (this.#newest === null || this.#newest - position > REMEMBERED_MAX) return false;
    if (this.#remembered.length === 0) return false;
    this.#filling ??= this.#fill(position).finally(() => {
      this.#filling = null;
    });
    return this.#filling;
  }

  /** The events after a position. Null if they are not remembered. */
  since(position: number): readonly NextMessage[] | null {
    const first = this.#remembered[0]?.position ?? (this.#newest ?? position) + 1;
    if (position + 1 < first) return null;
    return this.#remembered.slice(Math.max(0, position + 1 - first));
  }

  async #run(): Promise<void> {
    let fault: unknown = null;
    try {
      if (await this.opened) return;
      for (let event = await this.#upstream.next(); event; event = await this.#upstream.next()) {
        await this.#source.catchUp();
        await this.#deliver(new NextMessage(event.position, event.result));
      }
    } catch (error) {
      fault = error;
    } finally {
      this.#source.onRelease(this);
      await this.#upstream.return();
      for (const member of this.#members) member.end(fault);
    }
  }

  async #deliver(message: NextMessage): Promise<void> {
    this.#remember(message);
    this.#begin(message.position);
    let delivered = 0;
    let began_ms = performance.now();
    for (const member of this.#members) {
      member.offer(message);
      delivered++;
      const is_over = this.#source.hasPaid() && performance.now() - began_ms >= DELIVERING_MS_MAX;
      if (!is_over && delivered % DELIVERIES_PER_TURN_MAX !== 0) continue;
      await turn();
      began_ms = performance.now();
    }
    message.forgetFrames();
  }

  async #fill(position: number): Promise<boolean> {
    const upstream = this.from(position);
    const older: NextMessage[] = [];
    let bytes = 0;
    let next = position + 1;
    try {
      // The first remembered event may be dropped during the reads.
      for (; next < (this.#remembered[0]?.position ?? next); next++) {
        const event = await upstream.next();
        if (event?.position !== next || bytes > this.#source.remembered_bytes_max()) return false;
        const message = new NextMessage(next, event.result);
        message.forgetFrames();
        older.push(message);
        bytes += message.bytes;
      }
    } finally {
      await upstream.return();
    }
    // If all remembered events were dropped in the meantime, the events that were read would leave a gap.
    if (this.#remembered[0]?.position !== next) return false;
    this.#remembered.unshift(...older);
    this.#remembered_bytes += bytes;
    return true;
  }

  #remember(message: NextMessage): void {
    if (this.#newest !== null && message.position !== this.#newest + 1)
      throw new Error('events do not follow each other');
    this.#newest = message.position;
    this.#remembered.push(message);
    this.#remembered_bytes += message.bytes;
    const bytes_max = this.#source.remembered_bytes_max();
    while (this.#remembered.length > REMEMBERED_MAX || this.#remembered_bytes > bytes_max) {
      this.#remembered_bytes -= this.#remembered.shift()?.bytes ?? 0;
    }
  }
}

/** Number of events that are executed for single readers in one turn of the event loop. */
const STEPS_MAX = 50;

/**
 * Lets single readers take turns. Reading page by page never waits between pages, so a thousand readers would delay everything else in this
 * process for seconds.
 */
export class Pace {
  #steps = 0;
  #turn: Promise<void> | null = null;

  async step(): Promise<void> {
    while (this.#steps >= STEPS_MAX) {
      this.#turn ??= nextTurn().then(() => {
        this.#turn = null;
        this.#steps = 0;
      });
      await this.#turn;
    }
    this.#steps++;
  }
}
