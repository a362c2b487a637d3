import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream';
import type { FollowedEvent } from './event-chain.ts';

/** A book, and by what it is opened: a session, or how the one in force is come by, which is asked for each connection. */
export interface FollowedBook {
  readonly agent_id: number;
  readonly session: string | (() => string | Promise<string>);
}

export interface StreamOptions {
  /** Where the service is, without a path below it. */
  readonly url: string;
  readonly fetch?: typeof fetch;
  /** What of an event's row comes along, as a selection of GraphQL (`evidence amount`). Without it no row does. */
  readonly row?: string;
}

/** The service says no, and will go on saying it. */
export class BookRefused extends Error {
  override name = 'BookRefused';
  /** `forbidden`: the session does not open that book, or no more. */
  readonly code: string;

  constructor(code: string) {
    super(`the book is not shown: ${code}`);
    this.code = code;
  }
}

/** It broke off, or there is nothing to be had for now. `retry_after_ms`: as far as the service says. */
export class StreamBroken extends Error {
  override name = 'StreamBroken';
  readonly retry_after_ms: number;

  constructor(why: string, retry_after_ms = 0, cause?: unknown) {
    super(why, { cause });
    this.retry_after_ms = retry_after_ms;
  }
}

/** The service says something every five seconds, be it a comment; what says nothing for so long is a dead connection. */
const SILENCE_MS = 20_000;
/** Statuses that pass. */
const transient: ReadonlySet<number> = new Set([408, 409, 425, 429]);
const lasting: ReadonlySet<string> = new Set(['forbidden', 'unauthenticated', 'invalid_request', 'not_found']);

const queryOf = (row: string | undefined) =>
  `subscription ($agent: Int!, $after: Int) { event: bookRows(agentId: $agent, after: $after) {
    agent_id: agentId position kind seq task_id: taskId body at prev_hash: prevHash hash ${row ? `row { ${row} }` : ''} } }`;

/**
 * The events of one book after `after`, by server-sent events (graphql-sse, a connection each), for as long as it holds. The
 * session goes in a header. @throws BookRefused, StreamBroken
 */
export async function* bookStream(
  book: FollowedBook,
  after: number,
  options: StreamOptions,
  signal: AbortSignal,
): AsyncGenerator<FollowedEvent> {
  const silence = new AbortController();
  const ended = AbortSignal.any([signal, silence.signal]);
  // While an event is worked at nothing is waited for, and nothing is read.
  let waiting = true;
  const heard = timerOf(() => waiting && silence.abort(new StreamBroken('nothing was heard')));
  try {
    const answer = await ask(book, after, options, ended);
    const texts = answer.pipeThrough(watch(heard.again)).pipeThrough(new TextDecoderStream());
    for await (const { event, data } of eventsOf(texts.pipeThrough(new EventSourceParserStream()).getReader())) {
      if (event === 'complete') return;
      if (data === '') continue;
      waiting = false;
      yield eventIn(data);
      waiting = true;
      heard.again();
    }
  } catch (fault) {
    signal.throwIfAborted();
    throw fault instanceof BookRefused || fault instanceof StreamBroken
      ? fault
      : new StreamBroken('broke off', 0, fault);
  } finally {
    heard.stop();
    // Whoever stops reading leaves no connection behind.
    silence.abort();
  }
}

async function ask(
  { agent_id, session }: FollowedBook,
  after: number,
  { url, row, fetch: by = fetch }: StreamOptions,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const answer = await by(`${url.replace(/\/+$/, '')}/graphql/stream`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'X-SVC-Session': typeof session === 'string' ? session : await session(),
    },
    body: JSON.stringify({ query: queryOf(row), variables: { agent: agent_id, after } }),
    // Sent on to somebody else, the session would open the book to them.
    redirect: 'error',
    signal,
  });
  if (answer.ok && answer.body) return answer.body;
  await answer.body?.cancel();
  const { status, headers } = answer;
  if (status >= 400 && status < 500 && !transient.has(status))
    throw new BookRefused(status === 401 || status === 403 ? 'forbidden' : `status ${status}`);
  throw new StreamBroken(`status ${status}`, Number(headers.get('Retry-After') ?? 0) * 1_000 || 0);
}

async function* eventsOf(reader: ReadableStreamDefaultReader<EventSourceMessage>): AsyncGenerator<EventSourceMessage> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

interface Result {
  readonly data?: { readonly event?: FollowedEvent } | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

function eventIn(text: string): FollowedEvent {
  const { data, errors } = JSON.parse(text) as Result;
  if (data?.event) return { ...data.event, row: data.event.row ?? null };
  const code = errors?.[0]?.extensions?.code ?? 'unknown';
  throw lasting.has(code) ? new BookRefused(code) : new StreamBroken(errors?.[0]?.message ?? 'no event');
}

function watch(heard: () => void) {
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, controller) {
      heard();
      controller.enqueue(piece);
    },
  });
}

function timerOf(over: () => void) {
  let timer = setTimeout(over, SILENCE_MS);
  return {
    again: () => {
      clearTimeout(timer);
      timer = setTimeout(over, SILENCE_MS);
    },
    stop: () => clearTimeout(timer),
  };
}
