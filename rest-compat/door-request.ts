import type { JsonObject } from '../schema/canonical-json.ts';
import { type ErrorCode, Refusal } from '../schema/errors.ts';
import type { Upload } from './upload.ts';

/** By lower-case name, as Node has them; other transports say the same under the same names. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Headers of requests that begin with `X-SVC-`, in lower case: all that this service reads. The prefix is its own, so that a header
 * which is not among them is a misspelt one, and a call without it would be another call: on another book, or under no session.
 */
export const requestHeaders = [
  'x-svc-session',
  'x-svc-proof',
  'x-svc-nonce',
  'x-svc-agent',
  'x-svc-delegation',
  'x-svc-intent',
  'x-svc-attempt',
  'x-svc-parent',
  'x-svc-note',
  'x-svc-redeliver',
  'x-svc-payer',
  'x-svc-approval',
  'x-svc-board-ops',
  'x-svc-board-inbound',
] as const;

const known: ReadonlySet<string> = new Set(requestHeaders);

/** The first header of the service's prefix that it does not read; undefined where there is none. */
export function unknownHeader(headers: Readonly<Record<string, unknown>>): string | undefined {
  for (const name in headers) if (name.startsWith('x-svc-') && !known.has(name)) return name;
  return undefined;
}

/** What doors read of headers, and the graph of arguments: by which of them. */
const argumentsOnGraph: Readonly<Record<string, string>> = {
  'x-svc-intent': 'the input member intentId',
  'x-svc-attempt': 'the input member attemptIndex',
  'x-svc-parent': 'the input member parentRef',
  'x-svc-payer': 'the argument payer of boughtTask, boughtTasks or cancelTask',
  'x-svc-approval': 'the argument token of linkedApproval or answerLinkedApproval',
};

/** What is wrong with the headers of a request to the graph: the first that nobody reads there; null where there is none. */
export function unreadOnGraph(headers: RequestHeaders): { readonly param: string; readonly detail: string } | null {
  const unknown = unknownHeader(headers);
  if (unknown !== undefined) return { param: unknown, detail: unknownHeaderSentence(unknown) };
  const param = Object.keys(argumentsOnGraph).find(name => headers[name] !== undefined);
  if (param === undefined) return null;
  return {
    param,
    detail: `${param}: this header is not read here. Use ${argumentsOnGraph[param]}.`,
  };
}

/** @throws Refusal invalid_request */
export function requireKnownHeaders(headers: Readonly<Record<string, unknown>>): void {
  const name = unknownHeader(headers);
  if (name !== undefined) throw new Refusal('invalid_request', { param: name, detail: unknownHeaderSentence(name) });
}

/** With room for it as the reason for which a socket is closed: 123 bytes (RFC 6455 section 5.5). */
const unknownHeaderSentence = (name: string): string =>
  `${Buffer.from(name).subarray(0, 64)}: the service reads no header of this name.`;

/** One call of a door, whatever brought it. None of it is believed yet. */
export interface DoorRequest {
  /** The HTTP method, as a possession proof names it. */
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  /** Credentials, the payment, the intent, If-None-Match. */
  readonly headers: RequestHeaders;
  readonly address: string;
  /** Whether a payment that cannot be read is answered by the price, as none is; left out: it is a fault of the request (400). */
  readonly unreadable_is_unpaid?: true;
  /** The path of the door's row by which it was called; left out where that is its own, not an alias. */
  readonly spelt?: string;
  /** Aborted once whoever asked has left; left out: nobody can say so. */
  left?(): AbortSignal;
  /** Null where the method brings none: then it counts as an empty object. */
  readonly body: BodySource | null;
}

/** A request as it came: path parameters, query, headers and JSON body, none of it believed yet. */
export interface RawRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: JsonObject;
  /** The Accept header, where it may choose a form. */
  readonly accept?: unknown;
}

/** A body that has not been read: what is refused before it is read costs its sender's address nothing. */
export interface BodySource {
  /** As many as it says that it has, or at most `bytes_max`. */
  expectedBytes(bytes_max: number): number;
  /** Reads it once. What is longer than the door allows is left unread from there on. */
  read(bounds: BodyRules, upload: Upload): Promise<Body>;
}

/** What a door's body may be. */
export type BodyMedia = 'application/json' | 'multipart/form-data';

/** What a door says of its bodies. */
export interface BodyRules {
  readonly takes: BodyMedia;
  readonly body_bytes_max: number;
}

/** What came of reading a body. */
export type Body =
  | { readonly kind: 'json'; readonly value: JsonObject }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly detail?: string; readonly param?: string };

export const emptyBody: Body = { kind: 'json', value: {} };
