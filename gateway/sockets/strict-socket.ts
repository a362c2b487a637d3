import { CloseCode } from 'graphql-ws';
import { type RawData, WebSocket } from 'ws';
import { repeatedMember } from '../../schema/json-bounds.ts';

/**
 * A socket whose messages name each member once, as bodies of HTTP do: of two members of one name JSON.parse takes the last in silence,
 * and whoever has signed or logged the same text may have read the first. One that names a member twice closes the socket, as
 * graphql-transport-ws has it of every invalid message. Nothing that comes after a close is handed on.
 */
export class StrictSocket extends WebSocket {
  // Before its listeners: graphql-ws would already have run what it was asked.
  override emit(event: string | symbol, ...told: unknown[]): boolean {
    if (event !== 'message') return super.emit(event, ...told);
    if (this.readyState !== this.OPEN) return false;
    const repeated = repeatedIn(told[0] as RawData);
    if (repeated === null) return super.emit(event, ...told);
    this.close(CloseCode.BadRequest, reasonOf(repeated));
    return false;
  }
}

/** In the text as graphql-ws reads it. */
function repeatedIn(message: RawData): string | null {
  const text = String(message);
  try {
    return repeatedMember(Buffer.from(text), JSON.parse(text))?.param ?? null;
  } catch {
    // What is no JSON is closed with the same code by whoever reads it.
    return null;
  }
}

/** RFC 6455 section 5.5: a control frame has at most 125 bytes, two of them the code. */
const REASON_BYTES_MAX = 123;
const SAID = ': named twice in one object';

/** The sentence stays whole: of the name no more is said than there is room for. */
function reasonOf(name: string): string {
  let said = name;
  while (Buffer.byteLength(said + SAID) > REASON_BYTES_MAX) said = said.slice(0, -1);
  return said + SAID;
}
