import { createParser } from 'eventsource-parser';
import { bounds } from '../../../rest-compat/faces/mcp/bounds.ts';
import { headerValue, mirrored, PROTOCOL_VERSION } from '../../../rest-compat/faces/mcp/generation.ts';
import { faultText, memberOf, messageIn, metaOf, type RpcMessage } from '../../../rest-compat/faces/mcp/json-rpc.ts';
import { pays } from '../../../rest-compat/faces/mcp/payment-meta.ts';
import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import type { ToolService } from '../../config/tool-service.ts';

type Sent = Exclude<RpcMessage, { kind: 'malformed' }>;

/**
 * What a client says on stdin to the service over HTTP, and what that answers as lines. Nothing is understood here but how a message
 * travels: payments pass as they are, and are made by whoever has the wallet.
 */
export class Forwarder {
  readonly #service: ToolService;
  readonly #write: (line: string) => void;
  /** Long answers are read one after the other. */
  readonly #reading = new Turns();
  /** So are long messages sent: the service reads one of each address at a time, and keeps few of them waiting. */
  readonly #sending = new Turns();
  /** Of a client that began with a handshake: its session and version, as headers. */
  #begun: Readonly<Record<string, string>> = {};

  constructor(service: ToolService, write: (line: string) => void) {
    this.#service = service;
    this.#write = write;
  }

  /** Never rejects: what goes wrong is told to whoever asked. */
  async forward(line: string): Promise<void> {
    const message = readMessage(line);
    if (message.kind === 'malformed') {
      return this.#write(faultText(null, { code: 'parse_error', message: message.why }));
    }
    try {
      await this.#exchange(message, line);
    } catch {
      this.#tell(message, unanswered(message, this.#service));
    }
  }

  async #exchange(message: Sent, line: string): Promise<void> {
    const answer = await this.#post(message, line);
    const forgotten = answer.status === 404 && 'mcp-session-id' in this.#begun;
    if (!forgotten) return this.#pass(message, answer);
    // It serves without a session as well: the client need not know that its own is gone.
    await answer.body?.cancel();
    const { 'mcp-session-id': _, ...rest } = this.#begun;
    this.#begun = rest;
    return this.#pass(message, await this.#post(message, line));
  }

  async #post(message: Sent, line: string): Promise<Response> {
    if (Buffer.byteLength(line) <= bounds.message_bytes_max) return this.#fetch(message, line);
    const end = await this.#sending.next();
    return this.#fetch(message, line).finally(end);
  }

  #fetch(message: Sent, line: string): Promise<Response> {
    const { url, query, credentials } = this.#service;
    const shown = Object.entries(credentials).map(([header, secret]) => [header, secret.reveal()]);
    return fetch(`${url}/mcp${query}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...Object.fromEntries(shown),
        ...this.#headersOf(message),
      },
      body: line,
      redirect: 'error',
      signal: AbortSignal.timeout(bounds.answer_ms_max),
    });
  }

  /** What of the message HTTP wants to see, too; of the older generation it is what the handshake said. */
  #headersOf({ method, params }: Sent): Readonly<Record<string, string>> {
    const version = metaOf(params)[PROTOCOL_VERSION];
    if (typeof version !== 'string') return method === 'initialize' ? {} : this.#begun;
    const headers = mirrored({ method, params }, version);
    return Object.fromEntries(headers.map(({ header, value }) => [header, headerValue(value)]));
  }

  async #pass(message: Sent, answer: Response): Promise<void> {
    const type = answer.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream')) return this.#passEvents(message, answer);
    let text = '';
    for await (const piece of this.#pieces(answer)) text += piece;
    if (answer.status === 202 || message.kind === 'notification') return;
    const body: unknown = JSON.parse(text);
    if (!isJsonObject(body) || body.jsonrpc !== '2.0') throw new Error('the answer is no JSON-RPC');
    if (message.method === 'initialize') this.#begin(body, answer.headers);
    this.#write(JSON.stringify({ ...body, id: message.id }));
  }

  /** @throws where they end without the answer */
  async #passEvents(message: Sent, answer: Response): Promise<void> {
    let answered = false;
    const onEvent = ({ data }: { readonly data: string }) => {
      answered ||= message.kind === 'request' && memberOf(JSON.parse(data), 'id') === message.id;
      this.#write(data);
    };
    const parser = createParser({ onEvent });
    for await (const piece of this.#pieces(answer)) parser.feed(piece);
    if (!answered) throw new Error('the answer broke off');
  }

  /** Many may be underway, and one that is long is read at a time. @throws where it is longer than an answer may be */
  async *#pieces(answer: Response): AsyncGenerator<string> {
    const decoder = new TextDecoder();
    let bytes = 0;
    let end: (() => void) | null = null;
    try {
      for await (const piece of answer.body ?? []) {
        bytes += piece.byteLength;
        if (bytes > bounds.answer_bytes_max) throw new Error('the answer is too long');
        if (bytes > bounds.short_answer_bytes_max) end ??= await this.#reading.next();
        yield decoder.decode(piece, { stream: true });
      }
    } finally {
      end?.();
    }
  }

  #begin(body: JsonObject, headers: Headers): void {
    const session = headers.get('mcp-session-id');
    const version = memberOf(body.result, 'protocolVersion');
    this.#begun = {
      ...(session !== null && { 'mcp-session-id': session }),
      ...(typeof version === 'string' && { 'mcp-protocol-version': version }),
    };
  }

  #tell(message: Sent, why: string): void {
    if (message.kind === 'request') this.#write(faultText(message.id, { code: 'internal', message: why }));
  }
}

/** One after the other, in the order in which they ask. */
class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when the turn has come, with what ends it. */
  async next(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return resolve;
  }
}

function readMessage(line: string): RpcMessage {
  try {
    const value: unknown = JSON.parse(line);
    if (isJsonObject(value)) return messageIn(value);
  } catch {
    // It is told apart below.
  }
  return {
    kind: 'malformed',
    why: 'A line is one JSON object: batches of JSON-RPC are not served, send one at a time.',
  };
}

/** Whether it was called is not known; a second payment for it could be one too many. */
function unanswered({ params }: Sent, { url }: ToolService): string {
  const open = pays(metaOf(params)) ? ' Whether the payment was taken is not known: call again with the same one.' : '';
  return `${url} did not answer, or not as this service would: it has to run (npm start), at SERVICE_URL.${open}`;
}
