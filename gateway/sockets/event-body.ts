import { Readable } from 'node:stream';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { limits } from '../../schema/limits.ts';
import { HEARTBEAT, HEARTBEAT_MS } from '../graph/remote/event-stream.ts';
import type { SocketTally } from '../operations/metrics.ts';
import type { Delivery, Gate, Line, Shut } from './delivery.ts';
import type { NextMessage } from './frame.ts';

/** How the events of an answer are written. */
export interface EventWriting {
  /** One that was executed for this reader alone. */
  one(result: ExecutionResult): string | Buffer;
  /** One that goes to all who follow the same. */
  shared(message: NextMessage): Buffer;
  /** Behind the last; empty where nothing is said of it. */
  readonly complete: string;
}

const graphqlSse: EventWriting = {
  one: ({ data, errors }) => next(JSON.stringify(errors ? { data, errors } : { data })),
  shared: message => next(message.result),
  complete: 'event: complete\ndata: \n\n',
};

/**
 * The answer to one subscription in events (graphql-sse, distinct connections): `next` for each result, `complete` where
 * no more comes. One that ends without it was cut off, and its reader comes back.
 */
export class EventBody implements Line {
  readonly readable: Readable;
  readonly #tally: SocketTally;
  readonly #writing: EventWriting;
  readonly #refusal: (why: Shut) => GraphQLError;
  #wake: () => void = () => {};
  readonly #closed: (() => void)[] = [];
  #ended = false;

  constructor(tally: SocketTally, refusal: (why: Shut) => GraphQLError, writing: EventWriting = graphqlSse) {
    this.#tally = tally;
    this.#writing = writing;
    this.#refusal = refusal;
    this.readable = new Readable({ read: () => this.#wake() });
    // The head goes out with the first byte, and the first event may be long in coming.
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

  shut(why: Shut): void {
    this.#push(this.#writing.one({ errors: [this.#refusal(why)] }));
    this.complete();
  }

  onceClosed(heard: () => void): void {
    this.#closed.push(heard);
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

  /** Whoever stops reading must not keep alive what nothing is written of any more. */
  #over(): void {
    this.#ended = true;
    for (const heard of this.#closed.splice(0)) heard();
  }

  /** As fast as it is read: resolves when there is room for the next. */
  async write(result: ExecutionResult): Promise<void> {
    this.#push(this.#writing.one(result));
    this.#tally.deliveries++;
    while (this.open && this.readable.readableLength > this.readable.readableHighWaterMark)
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
  }

  /** For what comes live, at whatever pace it is read: whoever is too slow is cut off, and resumes from what they have. */
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

/** JSON has no bare line breaks, so its data is one line (HTML standard, 9.2.6). */
function next(result: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from('event: next\ndata: '), Buffer.from(result), Buffer.from('\n\n')]);
}
