import { isJsonObject, type JsonObject, present } from '../schema/canonical-json.ts';
import {
  type ErrorCode,
  errors,
  finalHubCodes,
  paymentStateAfter,
  type Refusal,
  withoutContradiction,
} from '../schema/errors.ts';

/** An HTTP response. A null body is empty, as in refusals of possession. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
  /** Compressed forms, if the body is the same for every client and does not change. */
  readonly compressed_forms?: CompressedForms;
}

/** A text as bytes, and in the content codings of RFC 9110 8.4.1, each made on first use. */
export interface CompressedForms {
  readonly plain: Buffer;
  in(coding: 'gzip' | 'br'): Promise<Buffer>;
}

export interface ProblemFault {
  readonly code: ErrorCode;
  readonly message?: string;
  readonly param?: string;
  readonly facts?: JsonObject;
}

/** The fault of a refusal, and the headers of its response. */
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

/** The error types of OpenAI's clients. */
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

/** The public facts of an error. An internal error has none. */
function publicFacts({ code, message, param, facts = {} }: ProblemFault) {
  const [status, sentence] = errors[code];
  const hidden = code === 'internal';
  const title = withoutContradiction(sentence, hidden ? undefined : facts.charged);
  const detail = hidden ? title : withoutContradiction(message ?? sentence, facts.charged);
  // Clients of a hub's API act on its own codes, such as `context_length_exceeded`.
  const { hub_error } = facts;
  const by_hub = isJsonObject(hub_error) ? present(hub_error) : {};
  const error: JsonObject = { message: detail, type: category(status), code, param: param ?? null, ...by_hub };
  return { status, title, detail, facts: hidden ? {} : facts, error };
}

/** An error during a stream as an event, in the form of OpenAI's clients. */
export function faultEvent(fault: ProblemFault): JsonObject {
  const { facts, error } = publicFacts(fault);
  return { ...facts, error };
}

/**
 * An error as a problem (RFC 9457) with the `error` member that OpenAI's clients read. Facts cannot replace a member of either. `pays`:
 * whether the request had a payment.
 */
export function problem(fault: ProblemFault, headers: Answer['headers'] = {}, pays = false): Answer {
  const { status, title, detail, facts, error } = publicFacts(fault);
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

/** 401 and 403 on possession have an empty body, as specified. A 401 requires WWW-Authenticate (RFC 9110 15.5.2). */
export function emptyRefusal(status: 401 | 403, opened_by = 'SVC-Session'): Answer {
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (status === 401) headers['www-authenticate'] = opened_by;
  return { status, headers, body: null };
}

/** Errors whose response has an empty body by REST, and so no code. */
export const closingCodes: Partial<Record<ErrorCode, 401 | 403>> = { unauthenticated: 401, forbidden: 403 };

/** Default seconds for Retry-After, if the error has no value of its own. */
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

/** Default for an error after which the outcome of the payment is unknown. */
const OPEN_SECONDS = 5;

/** Errors that do not depend on the payment: a hub's verdict on the request, or the size of its answer. */
const finalCodes: ReadonlySet<ErrorCode> = new Set([...finalHubCodes, 'answer_too_large']);

/**
 * Headers about retries. OpenAI's clients retry 408, 409, 429 and 5xx unless `x-should-retry` says no, and an x402 client below them would
 * sign a new payment each time. So the header says no unless the payment is known to be unused. If nothing was charged clients retry as
 * usual.
 */
export function retryHeaders(
  { code, facts }: { readonly code: ErrorCode; readonly facts: JsonObject },
  pays: boolean,
): Record<string, string> {
  const { retry_after_seconds, charged } = facts;
  const payment_state = paymentStateAfter(code, charged, pays);
  const known = typeof retry_after_seconds === 'number' ? retry_after_seconds : retryAfterSeconds[code];
  const wait = known ?? (payment_state === 'open' ? OPEN_SECONDS : undefined);
  return {
    ...(wait === undefined ? {} : { 'retry-after': String(Math.ceil(wait)) }),
    ...(payment_state === 'unused' && !finalCodes.has(code) ? {} : { 'x-should-retry': 'false' }),
  };
}
