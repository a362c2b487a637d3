import type { FollowedEvent } from './event-chain.ts';

/* The subscription to a book, independent of the transport. */

/** A book and its session, or a function that returns the current session, called for each connection. */
export interface FollowedBook {
  readonly agent_id: number;
  readonly session: string | (() => string | Promise<string>);
}

export interface StreamOptions {
  /** Base URL of the service, without a path. */
  readonly url: string;
  readonly fetch?: typeof fetch;
  /** Fields of each event's row, as a GraphQL selection (`evidence payment { amount }`). Default: no row. */
  readonly row?: string;
}

/** The service refuses the book permanently. */
export class BookRefused extends Error {
  override name = 'BookRefused';
  /** `forbidden`: the session does not open that book, or has ended. */
  readonly code: string;
  readonly why: string;

  constructor(code: string, why: string) {
    super(`the service refuses the book: ${code}: ${why}`);
    this.code = code;
    this.why = why;
  }
}

/** The connection broke, or the service is unavailable for now. `retry_after_ms` is the service's wish, or 0. */
export class StreamBroken extends Error {
  override name = 'StreamBroken';
  readonly retry_after_ms: number;

  constructor(why: string, retry_after_ms = 0, cause?: unknown) {
    super(why, { cause });
    this.retry_after_ms = retry_after_ms;
  }
}

/**
 * Yields the events of a book after position `after`, over one connection. Returns when the service ends the stream.
 * @throws BookRefused, StreamBroken
 */
export type BookTransport = (
  book: FollowedBook,
  after: number,
  options: StreamOptions,
  signal: AbortSignal,
) => AsyncIterable<FollowedEvent>;

/** The service sends something every five seconds, a comment or a pong; after this silence it counts as dead. */
const SILENCE_MS = 20_000;
const permanentCodes: ReadonlySet<string> = new Set(['forbidden', 'unauthenticated', 'invalid_request', 'not_found']);

interface BookSubscription {
  readonly query: string;
  readonly variables: { readonly agent: number; readonly after: number };
}

/** The request for the events of that book after that position. */
export function subscriptionTo({ agent_id }: FollowedBook, after: number, { row }: StreamOptions): BookSubscription {
  const query = `subscription ($agent: Int!, $after: Int) { event: bookRows(agentId: $agent, after: $after) {
    agent_id: agentId position kind seq task_id: taskId body at prev_hash: prevHash hash ${row ? `row { ${row} }` : ''} } }`;
  return { query, variables: { agent: agent_id, after } };
}

export async function currentSessionOf({ session }: FollowedBook): Promise<string> {
  return typeof session === 'string' ? session : session();
}

export interface GraphqlFault {
  readonly message: string;
  readonly extensions?: { readonly code?: unknown };
}
export interface SubscriptionResult {
  readonly data?: { readonly event?: FollowedEvent } | null;
  readonly errors?: readonly GraphqlFault[];
}

/** @throws BookRefused, StreamBroken */
export function eventIn({ data, errors = [] }: SubscriptionResult): FollowedEvent {
  if (data?.event) return { ...data.event, row: data.event.row ?? null };
  throw refusalIn(errors);
}

export function refusalIn([first]: readonly GraphqlFault[]): BookRefused | StreamBroken {
  const code = String(first?.extensions?.code);
  return permanentCodes.has(code)
    ? new BookRefused(code, first?.message ?? '')
    : new StreamBroken(first?.message ?? 'no event');
}

/** Turns any error into one of the two that the follower knows. */
export function bookErrorOf(fault: unknown): BookRefused | StreamBroken {
  if (fault instanceof BookRefused || fault instanceof StreamBroken) return fault;
  return new StreamBroken('the connection was interrupted', 0, fault);
}

interface SilenceTimer {
  again(): void;
  stop(): void;
}

/** Calls `over` after too long a silence. */
export function silenceTimer(over: () => void): SilenceTimer {
  let timer = setTimeout(over, SILENCE_MS);
  return {
    again: () => {
      clearTimeout(timer);
      timer = setTimeout(over, SILENCE_MS);
    },
    stop: () => clearTimeout(timer),
  };
}

/** Iterates over a stream. */
export async function* streamItems<T>(reader: ReadableStreamDefaultReader<T>): AsyncGenerator<T> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
