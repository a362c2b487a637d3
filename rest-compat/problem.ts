import { isJsonObject, type JsonObject, present } from '../schema/canonical-json.ts';
import { type ErrorCode, errors, finalHubCodes, leaves, type Refusal, sayingCharged } from '../schema/errors.ts';

/** What leaves by the socket. A null body is an empty one: possession refusals say nothing but their status. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
  /** Where the body is the same for everybody and for long: how it is kept compressed. */
  readonly packed?: PackedForms;
}

/** One text as bytes, and in the codings of RFC 9110 8.4.1, each made when it is first asked for. */
export interface PackedForms {
  readonly plain: Buffer;
  in(coding: 'gzip' | 'br'): Promise<Buffer>;
}

export interface ProblemFault {
  readonly code: ErrorCode;
  readonly message?: string;
  readonly param?: string;
  readonly facts?: JsonObject;
}

/** What a refusal says, and the headers that it brings along. */
export function faultBeside({ code, message, extensions }: Refusal) {
  const { code: _code, status: _status, param, answer_headers = {}, ...facts } = extensions;
  return {
    code,
    message,
    facts: facts as JsonObject,
    ...(typeof param === 'string' && { param }),
    headers: answer_headers as Answer['headers'],
  };
}

/** The categories that OpenAI's clients sort errors by. */
const categories: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'payment_required_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

function category(status: number): string {
  return categories[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
}

/** What may be said of a fault: of one that is ours, nothing but that. */
function told({ code, message, param, facts = {} }: ProblemFault) {
  const [status, sentence] = errors[code];
  const hidden = code === 'internal';
  const title = sayingCharged(sentence, hidden ? undefined : facts.charged);
  const detail = hidden ? title : sayingCharged(message ?? sentence, facts.charged);
  // A hub's own words are what clients of its API act on, such as `context_length_exceeded`.
  const { hub_error } = facts;
  const by_hub = isJsonObject(hub_error) ? present(hub_error) : {};
  const error: JsonObject = { message: detail, type: category(status), code, param: param ?? null, ...by_hub };
  return { status, title, detail, facts: hidden ? {} : facts, error };
}

/** A fault in the midst of a stream, as OpenAI's clients read it: as an event. */
export function faultEvent(fault: ProblemFault): JsonObject {
  const { facts, error } = told(fault);
  return { ...facts, error };
}

/**
 * RFC 9457, with the `error` member beside it that OpenAI clients read. Facts never shadow a member of either. `pays`:
 * whether a payment came with the request.
 */
export function problem(fault: ProblemFault, headers: Answer['headers'] = {}, pays = false): Answer {
  const { status, title, detail, facts, error } = told(fault);
  const type = `urn:svc402:problem:${fault.code}`;
  return {
    status,
    headers: {
      ...headers,
      ...retryHeaders({ code: fault.code, facts: fault.facts ?? {} }, pays),
      'content-type': 'application/problem+json; charset=utf-8',
      'cache-control': 'no-store',
    },
    body: JSON.stringify({ ...facts, type, title, status, detail, code: fault.code, error }),
  };
}

/** 401 and 403 on possession: an empty body, as specified. RFC 9110 15.5.2 wants the challenge header with a 401. */
export function closed(status: 401 | 403, opened_by = 'SVC-Session'): Answer {
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (status === 401) headers['www-authenticate'] = opened_by;
  return { status, headers, body: null };
}

/** Seconds after which the same request may fare better, where the error itself does not know. */
const retryAfterSeconds: Partial<Record<ErrorCode, number>> = {
  payment_in_flight: 1,
  idempotency_key_in_flight: 1,
  settlement_pending: 5,
  rate_limited: 5,
  chain_unavailable: 10,
  facilitator_unavailable: 10,
  fee_too_high: 30,
  upload_unknown: 1,
  unavailable: 5,
};

/** The same of a payment whose outcome the error does not know either. */
const OPEN_SECONDS = 5;

/** Whatever is paid for the request: a verdict on it, or the size of what it asks for. */
const finalCodes: ReadonlySet<ErrorCode> = new Set([...finalHubCodes, 'answer_too_large']);

/**
 * When to ask again, and whether a client may do so by itself. OpenAI's clients retry 408, 409, 429 and 5xx unless
 * `x-should-retry` says no, and an x402 client below them pays for each retry anew: so it does wherever the payment in hand
 * is not known to be unused. Where nothing was charged a client does as it is used to.
 */
export function retryHeaders(
  { code, facts }: { readonly code: ErrorCode; readonly facts: JsonObject },
  pays: boolean,
): Record<string, string> {
  const { retry_after_seconds: asked, charged } = facts;
  const left = leaves(code, charged, pays);
  const known = typeof asked === 'number' ? asked : retryAfterSeconds[code];
  const wait = known ?? (left === 'open' ? OPEN_SECONDS : undefined);
  return {
    ...(wait === undefined ? {} : { 'retry-after': String(Math.ceil(wait)) }),
    ...(left === 'unused' && !finalCodes.has(code) ? {} : { 'x-should-retry': 'false' }),
  };
}
