import type { FollowedEvent } from './event-chain.ts';

/* The subscription that a book is followed by, whichever transport carries it. */

/** A book, and by what it is opened: a session, or how the one in force is come by, which is asked for each connection. */
export interface FollowedBook {
  readonly agent_id: number;
  readonly session: string | (() => string | Promise<string>);
}

export interface StreamOptions {
  /** Where the service is, without a path below it. */
  readonly url: string;
  readonly fetch?: typeof fetch;
  /** What of an event's row comes along, as a selection of GraphQL (`evidence payment { amount }`). Without it no row does. */
  readonly row?: string;
}

/** The service says no, and will go on saying it. */
export class BookRefused extends Error {
  override name = 'BookRefused';
  /** `forbidden`: the session does not open that book, or no more. */
  readonly code: string;
  readonly why: string;

  constructor(code: string, why: string) {
    super(`the book is not shown: ${code}: ${why}`);
    this.code = code;
    this.why = why;
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

/**
 * The events of a book after `after`, for as long as a connection holds. It ends where the service ends it, and throws BookRefused
 * or StreamBroken.
 */
export type BookTransport = (
  book: FollowedBook,
  after: number,
  options: StreamOptions,
  signal: AbortSignal,
) => AsyncIterable<FollowedEvent>;

/** A service that is there says something every five seconds, be it a comment or a pong; what says nothing for so long is dead. */
const SILENCE_MS = 20_000;
const lasting: ReadonlySet<string> = new Set(['forbidden', 'unauthenticated', 'invalid_request', 'not_found']);

/** What is asked of the service for the events of that book after that position. */
export function subscriptionTo({ agent_id }: FollowedBook, after: number, { row }: StreamOptions) {
  const query = `subscription ($agent: Int!, $after: Int) { event: bookRows(agentId: $agent, after: $after) {
    agent_id: agentId position kind seq task_id: taskId body at prev_hash: prevHash hash ${row ? `row { ${row} }` : ''} } }`;
  return { query, variables: { agent: agent_id, after } };
}

export async function shownSessionOf({ session }: FollowedBook): Promise<string> {
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
  return lasting.has(code)
    ? new BookRefused(code, first?.message ?? '')
    : new StreamBroken(first?.message ?? 'no event');
}

/** What went wrong, in the two words that a follower knows. */
export function brokenBy(fault: unknown): BookRefused | StreamBroken {
  if (fault instanceof BookRefused || fault instanceof StreamBroken) return fault;
  return new StreamBroken('broke off', 0, fault);
}

/** `over` once nothing was heard for too long. */
export function silenceTimer(over: () => void) {
  let timer = setTimeout(over, SILENCE_MS);
  return {
    again: () => {
      clearTimeout(timer);
      timer = setTimeout(over, SILENCE_MS);
    },
    stop: () => clearTimeout(timer),
  };
}

/** Of a stream, as they come. */
export async function* takenFrom<T>(reader: ReadableStreamDefaultReader<T>): AsyncGenerator<T> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
