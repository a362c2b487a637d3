import type { JsonObject } from '../schema/canonical-json.ts';
import { type ErrorCode, Refusal } from '../schema/errors.ts';
import { ownHeaders } from './request-headers.ts';
import type { Upload } from './upload.ts';

/** Names are in lower case, as in Node. Other transports use the same names. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const known: ReadonlySet<string> = new Set(ownHeaders);

/**
 * The first header with the prefix `X-SVC-` that this service does not read. Undefined if there is none. It is a misspelled one, and
 * without it the call would be a different call: on another book, or without a session.
 */
export function unknownHeader(headers: Readonly<Record<string, unknown>>): string | undefined {
  for (const name in headers) if (name.startsWith('x-svc-') && !known.has(name)) return name;
  return undefined;
}

/** The arguments on the graph that replace these headers of REST. */
const argumentsOnGraph: Readonly<Record<string, string>> = {
  'x-svc-intent': 'the input member intentId',
  'x-svc-attempt': 'the input member attemptIndex',
  'x-svc-parent': 'the input member parentRef',
  'x-svc-payer': 'the argument payer of boughtTask, boughtTasks or cancelTask',
  'x-svc-approval': 'the argument token of linkedApproval or answerLinkedApproval',
};

/** The first header of a request to the graph that is not read there. Null if there is none. */
export function headerFaultOnGraph(
  headers: RequestHeaders,
): { readonly param: string; readonly detail: string } | null {
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

/** Limited, because it is also the reason for closing a WebSocket: 123 bytes (RFC 6455 section 5.5). */
const unknownHeaderSentence = (name: string): string =>
  `${Buffer.from(name).subarray(0, 64)}: the service reads no header of this name.`;

/** One call of an endpoint from any transport. Nothing in it is verified. */
export interface DoorRequest {
  /** The HTTP method, which a proof of possession is bound to. */
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  /** Credentials, payment, intent, If-None-Match and so on. */
  readonly headers: RequestHeaders;
  readonly address: string;
  /** True if an unreadable payment is answered with the price, like a missing one. Otherwise it is an invalid request (400). */
  readonly unreadable_is_unpaid?: true;
  /** The alias of the path by which the endpoint was called. Absent if it was called by its own path. */
  readonly called_path?: string;
  /** A signal that is aborted when the client has disconnected. Absent if the transport does not know. */
  left?(): AbortSignal;
  /** Null if the method has no body, which is the same as an empty object. */
  readonly body: BodySource | null;
}

/** Parts of a request before they are validated. */
export interface RawRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: JsonObject;
  /** The Accept header, if it may choose a form. */
  readonly accept?: unknown;
}

/** A body that has not been read yet, so that a request that is refused earlier does not count against the body limit of its address. */
export interface BodySource {
  /** The stated length, or at most `bytes_max`. */
  expectedBytes(bytes_max: number): number;
  /** Reads the body once, and stops where it exceeds the limit of the endpoint. */
  read(bounds: BodyRules, upload: Upload): Promise<Body>;
}

/** Media types of a body. */
export type BodyMedia = 'application/json' | 'multipart/form-data';

/** Rules for the body of an endpoint. */
export interface BodyRules {
  readonly takes: BodyMedia;
  readonly body_bytes_max: number;
}

/** Result of reading a body. */
export type Body =
  | { readonly kind: 'json'; readonly value: JsonObject }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly detail?: string; readonly param?: string };

export const emptyBody: Body = { kind: 'json', value: {} };
