import { Readable } from 'node:stream';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { limits } from '../../schema/limits.ts';
import { HEARTBEAT, HEARTBEAT_MS } from '../graph/remote/event-stream.ts';
import type { SocketTally } from '../operations/metrics.ts';
import type { CloseCause, Delivery, Gate, Line } from './delivery.ts';
import type { NextMessage } from './frame.ts';

/** How the events of a response are encoded. */
export interface EventWriting {
  /** Encodes an event that was executed for this reader only. */
  one(result: ExecutionResult): string | Buffer;
  /** Encodes an event for all members of a group. */
  shared(message: NextMessage): Buffer;
  /** The last message. Empty if the encoding has none. */
  readonly complete: string;
}

const graphqlSse: EventWriting = {
  one: ({ data, errors }) => next(JSON.stringify(errors ? { data, errors } : { data })),
  shared: message => next(message.result),
  complete: 'event: complete\ndata: \n\n',
};

/**
 * The response to one subscription as events (graphql-sse, distinct connections): `next` for each result, `complete` at the end. A stream
 * that ends without `complete` was cut off, and its reader reconnects.
 */
export class EventBody implements Line {
  readonly readable: Readable;
  readonly #tally: SocketTally;
  readonly #writing: EventWriting;
  readonly #refusal: (why: CloseCause) => GraphQLError;
  #wake: () => void = () => {};
  readonly #closed: (() => void)[] = [];
  #ended = false;

  constructor(tally: SocketTally, refusal: (why: CloseCause) => GraphQLError, writing: EventWriting = graphqlSse) {
    this.#tally = tally;
    this.#writing = writing;
    this.#refusal = refusal;
    this.readable = new Readable({ read: () => this.#wake() });
    // Headers are sent with the first byte, and the first event may take long, so a heartbeat is sent first.
    this.readable.push(HEARTBEAT);
    const heartbeat = setInterval(() => this.readable.readableLength === 0 && this.#push(HEARTBEAT), HEARTBEAT_MS);
    this.readable.once('close', () => this.#over());
    this.onceClosed(() => {
      clearInterval(heartbeat);
      this.#wake();
    });
  }

  get open(): boolean {
    return !this.#ended && !this.readable.destroyed;
  }

  shut(why: CloseCause): void {
    this.#push(this.#writing.one({ errors: [this.#refusal(why)] }));
    this.complete();
  }

  onceClosed(listener: () => void): void {
    this.#closed.push(listener);
  }

  complete(): void {
    this.#push(this.#writing.complete);
    this.cutOff();
  }

  cutOff(): void {
    if (!this.open) return;
    this.readable.push(null);
    this.#over();
  }

  /** Calls the listeners, so that a reader that has disconnected does not keep its source open. */
  #over(): void {
    this.#ended = true;
    for (const listener of this.#closed.splice(0)) listener();
  }

  /** Writes an event at the reader's pace: resolves when there is room for the next event. */
  async write(result: ExecutionResult): Promise<void> {
    this.#push(this.#writing.one(result));
    this.#tally.deliveries++;
    while (this.open && this.readable.readableLength > this.readable.readableHighWaterMark)
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
  }

  /** The output for live events. A reader that is too slow is cut off, and resumes from its last event. */
  delivery(gate: Gate): Delivery {
    return { gate, send: message => this.#send(message) };
  }

  #send(message: NextMessage): boolean {
    if (!this.open) return false;
    if (this.readable.readableLength > limits.socket_buffered_bytes_max) {
      this.#tally.dropped.slow++;
      this.readable.destroy();
      return false;
    }
    this.#push(this.#writing.shared(message));
    this.#tally.deliveries++;
    return true;
  }

  #push(bytes: string | Buffer): void {
    if (this.open && bytes.length > 0) this.readable.push(bytes);
  }
}

/** An event of the type `next`. JSON has no bare line breaks, so its data is one line (HTML standard, 9.2.6). */
function next(result: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from('event: next\ndata: '), Buffer.from(result), Buffer.from('\n\n')]);
}
