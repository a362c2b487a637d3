import { createParser } from 'eventsource-parser';
import { bounds } from '../../../rest-compat/faces/mcp/bounds.ts';
import { encodeHeader, headersOfMessage, PROTOCOL_VERSION } from '../../../rest-compat/faces/mcp/generation.ts';
import { faultText, memberOf, messageIn, metaOf, type RpcMessage } from '../../../rest-compat/faces/mcp/json-rpc.ts';
import { pays } from '../../../rest-compat/faces/mcp/payment-meta.ts';
import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import type { ToolService } from '../../config/tool-service.ts';

type ForwardedMessage = Exclude<RpcMessage, { kind: 'malformed' }>;

/**
 * Forwards messages from stdin to the service over HTTP, and the service's responses to stdout. Payments pass unchanged, because
 * the client has the wallet.
 */
export class Forwarder {
  readonly #service: ToolService;
  readonly #write: (line: string) => void;
  /** Only one long response is read at a time. */
  readonly #reading = new Turns();
  /** Only one long message is sent at a time, because the service reads only one per address at once and queues few. */
  readonly #sending = new Turns();
  /** Headers with session and protocol version of a client that began with a handshake. */
  #begun: Readonly<Record<string, string>> = {};

  constructor(service: ToolService, write: (line: string) => void) {
    this.#service = service;
    this.#write = write;
  }

  /** Forwards one message. Never rejects: a failure is written as a JSON-RPC error. */
  async forward(line: string): Promise<void> {
    const message = readMessage(line);
    if (message.kind === 'malformed') {
      return this.#write(faultText(null, { code: 'parse_error', message: message.why }));
    }
    try {
      await this.#exchange(message, line);
    } catch {
      this.#fail(message, noAnswerText(message, this.#service));
    }
  }

  async #exchange(message: ForwardedMessage, line: string): Promise<void> {
    const answer = await this.#post(message, line);
    const expired = answer.status === 404 && 'mcp-session-id' in this.#begun;
    if (!expired) return this.#pass(message, answer);
    // The service also works without a session, so the client is not informed that its session has ended.
    await answer.body?.cancel();
    const { 'mcp-session-id': _, ...rest } = this.#begun;
    this.#begun = rest;
    return this.#pass(message, await this.#post(message, line));
  }

  async #post(message: ForwardedMessage, line: string): Promise<Response> {
    if (Buffer.byteLength(line) <= bounds.message_bytes_max) return this.#fetch(message, line);
    const end = await this.#sending.next();
    return this.#fetch(message, line).finally(end);
  }

  #fetch(message: ForwardedMessage, line: string): Promise<Response> {
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

  /** Headers that repeat parts of the message. In the older protocol generation they are those of the handshake. */
  #headersOf({ method, params }: ForwardedMessage): Readonly<Record<string, string>> {
    const version = metaOf(params)[PROTOCOL_VERSION];
    if (typeof version !== 'string') return method === 'initialize' ? {} : this.#begun;
    const headers = headersOfMessage({ method, params }, version);
    return Object.fromEntries(headers.map(({ header, value }) => [header, encodeHeader(value)]));
  }

  async #pass(message: ForwardedMessage, answer: Response): Promise<void> {
    const type = answer.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream')) return this.#passEvents(message, answer);
    let text = '';
    for await (const piece of this.#pieces(answer)) text += piece;
    if (answer.status === 202 || message.kind === 'notification') return;
    const body: unknown = JSON.parse(text);
    if (!isJsonObject(body) || body.jsonrpc !== '2.0') throw new Error('the answer is not JSON-RPC');
    if (message.method === 'initialize') this.#begin(body, answer.headers);
    this.#write(JSON.stringify({ ...body, id: message.id }));
  }

  /** Writes the events of a response. @throws if the stream ends before the result */
  async #passEvents(message: ForwardedMessage, answer: Response): Promise<void> {
    let answered = false;
    const onEvent = ({ data }: { readonly data: string }) => {
      answered ||= message.kind === 'request' && memberOf(JSON.parse(data), 'id') === message.id;
      this.#write(data);
    };
    const parser = createParser({ onEvent });
    for await (const piece of this.#pieces(answer)) parser.feed(piece);
    if (!answered) throw new Error('the answer broke off');
  }

  /** Reads many responses at once, but only one long response at a time. @throws if a response is too long */
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

  #fail(message: ForwardedMessage, why: string): void {
    if (message.kind === 'request') this.#write(faultText(message.id, { code: 'internal', message: why }));
  }
}

/** A lock that waiting callers get in the order of their calls. */
class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Waits for the lock and returns the function that releases it. */
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
    // Invalid JSON is reported below, like other malformed messages.
  }
  return {
    kind: 'malformed',
    why: 'Each line must be one JSON object. JSON-RPC batches are not supported; send one message per line.',
  };
}

/**
 * Message for a request without a valid response. It is unknown whether the tool ran, and another payment could be charged in
 * addition.
 */
function noAnswerText({ params }: ForwardedMessage, { url }: ToolService): string {
  const open = pays(metaOf(params))
    ? ' It is unknown whether the payment was taken: call again with the same payment.'
    : '';
  return `${url} did not give a valid answer. Check that the service runs (npm start) and that SERVICE_URL names it.${open}`;
}
