/** One complete message of Postgres's protocol, version 3 (Postgres documentation, section 54.7). */
export interface PostgresMessage {
  /** Type of the message. Null for a client's first message, which has none. */
  readonly type: string | null;
  readonly body: Buffer;
  /** The whole message as it is sent. */
  readonly bytes: Buffer;
}

const LENGTH_BYTES = 4;

/** Reads the messages of one side, which TCP may deliver in any pieces. */
export class MessageReader {
  #left = Buffer.alloc(0);
  #type_bytes: 0 | 1;

  constructor(side: 'client' | 'server') {
    this.#type_bytes = side === 'client' ? 0 : 1;
  }

  /** Yields the messages that are complete once these bytes have arrived. */
  *read(bytes: Buffer): Generator<PostgresMessage> {
    this.#left = Buffer.concat([this.#left, bytes]);
    for (let message = this.#next(); message; message = this.#next()) yield message;
  }

  #next(): PostgresMessage | null {
    const head_bytes = this.#type_bytes + LENGTH_BYTES;
    if (this.#left.length < head_bytes) return null;
    // The length includes itself, but not the type before it.
    const bytes_count = this.#type_bytes + this.#left.readInt32BE(this.#type_bytes);
    if (this.#left.length < bytes_count) return null;
    const bytes = this.#left.subarray(0, bytes_count);
    const type = this.#type_bytes === 0 ? null : bytes.toString('latin1', 0, 1);
    this.#left = this.#left.subarray(bytes_count);
    this.#type_bytes = 1;
    return { type, body: bytes.subarray(head_bytes), bytes };
  }
}

/** The text of a simple query. Null for any other message. */
export function queryText({ type, body }: PostgresMessage): string | null {
  return type === 'Q' ? words(body)[0] : null;
}

/** Name of the prepared statement that is executed. Null for any other message. */
export function boundStatement({ type, body }: PostgresMessage): string | null {
  return type === 'B' ? words(body)[1] : null;
}

/** The tag of a command that the server has completed. Null for any other message. */
export function commandTag({ type, body }: PostgresMessage): string | null {
  return type === 'C' ? words(body)[0] : null;
}

/** The first two strings of a body. Each ends with a zero byte. */
function words(body: Buffer): readonly [string, string] {
  const [one = '', other = ''] = body.toString('utf8').split('\0', 2);
  return [one, other];
}
