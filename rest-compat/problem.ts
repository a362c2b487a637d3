import type { JsonObject } from '../schema/canonical-json.ts';
import { type ErrorCode, errors } from '../schema/errors.ts';
import { retryHeaders } from './retry.ts';

/** What leaves by the socket. A null body is an empty one: possession refusals say nothing but their status. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface Fault {
  readonly code: ErrorCode;
  readonly message?: string;
  readonly param?: string;
  readonly facts?: JsonObject;
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
function told({ code, message, param, facts = {} }: Fault) {
  const [status, title] = errors[code];
  const hidden = code === 'internal';
  const detail = hidden ? title : (message ?? title);
  const error: JsonObject = { message: detail, type: category(status), code, param: param ?? null };
  return { status, title, detail, facts: hidden ? {} : facts, error };
}

/** A fault in the midst of a stream, as OpenAI's clients read it: as an event. */
export function faultEvent(fault: Fault): JsonObject {
  const { facts, error } = told(fault);
  return { ...facts, error };
}

/**
 * RFC 9457, with the `error` member beside it that OpenAI clients read. Facts never shadow a member of either. `pays`:
 * whether a payment came with the request.
 */
export function problem(fault: Fault, headers: Answer['headers'] = {}, pays = false): Answer {
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
export function closed(status: 401 | 403): Answer {
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (status === 401) headers['www-authenticate'] = 'SVC-Session';
  return { status, headers, body: null };
}
