import type { ExecutionResult } from 'graphql';

/**
 * First byte of a frame from a server: text in a single frame. Such a frame is not masked (RFC 6455 section 5.2), so its bytes are the same
 * for every socket.
 */
const FINAL_TEXT = 0x81;
const LENGTH_16_BITS = 126;
const LENGTH_64_BITS = 127;

/** A `next` message of graphql-transport-ws. It is encoded once for all receivers, and only the operation's id differs. */
export class NextMessage {
  readonly position: number;
  readonly #payload: Buffer;
  #frames: Map<string, Buffer> | null = new Map();

  constructor(position: number, { data, errors }: ExecutionResult) {
    this.position = position;
    this.#payload = Buffer.from(`${JSON.stringify(errors ? { data, errors } : { data })}}`);
  }

  get bytes(): number {
    return this.#payload.length;
  }

  /** JSON of the result, for transports without the rest of the message. */
  get result(): Buffer {
    return this.#payload.subarray(0, -1);
  }

  /** The frame for the operation with that id. */
  frame(id: string): Buffer {
    const known = this.#frames?.get(id);
    if (known) return known;
    const start = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
    const frame = textFrame(start, this.#payload);
    this.#frames?.set(id, frame);
    return frame;
  }

  /** Drops the frames, which are kept for current receivers only. For a later receiver the frame is built again. */
  forgetFrames(): void {
    this.#frames = null;
  }
}

function textFrame(start: Buffer, rest: Buffer): Buffer {
  const length = start.length + rest.length;
  const header = length < LENGTH_16_BITS ? 2 : length < 1 << 16 ? 4 : 10;
  const frame = Buffer.allocUnsafe(header + length);
  frame[0] = FINAL_TEXT;
  if (header === 2) frame[1] = length;
  else if (header === 4) {
    frame[1] = LENGTH_16_BITS;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = LENGTH_64_BITS;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  start.copy(frame, header);
  rest.copy(frame, header + start.length);
  return frame;
}
