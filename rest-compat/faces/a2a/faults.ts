import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import type { Answer } from '../../problem.ts';

/* Errors of A2A (specification 1.0, §5.4 and §9.5), and how the service's refusals are translated to them. */

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: readonly JsonObject[];
}

const a2aErrors = {
  parse_error: [-32700, 'Invalid JSON payload'],
  invalid_request: [-32600, 'Request payload validation error'],
  method_not_found: [-32601, 'Method not found'],
  invalid_params: [-32602, 'Invalid parameters'],
  internal: [-32603, 'Internal error'],
  task_not_found: [-32001, 'Task not found'],
  task_not_cancelable: [-32002, 'Task cannot be canceled'],
  push_notification_not_supported: [-32003, 'Push Notification is not supported'],
  unsupported_operation: [-32004, 'This operation is not supported'],
  content_type_not_supported: [-32005, 'Incompatible content types'],
  version_not_supported: [-32009, 'This version of the protocol is not supported'],
} as const satisfies Record<string, readonly [code: number, message: string]>;

type A2aErrorName = keyof typeof a2aErrors;

export const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
export const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest';
export const FACTS = 'type.googleapis.com/google.protobuf.Struct';
export const A2A_DOMAIN = 'a2a-protocol.org';
export const OUR_DOMAIN = 'svc402';

/** A violation of A2A's own rules. `field`: the parameter. */
export class A2aFault extends Error {
  readonly rpc: RpcError;

  constructor(name: A2aErrorName, detail?: string, field?: string) {
    const [code, message] = a2aErrors[name];
    super(detail ?? message);
    this.rpc = {
      code,
      message: detail === undefined ? message : `${message}: ${detail}`,
      data: [errorOfA2a(name), ...(field === undefined ? [] : [violation(field, detail ?? message)])],
    };
  }
}

/** Each A2A error has one reason and one domain, wherever it was found; the service's own code is among the facts. */
const errorOfA2a = (name: A2aErrorName) => ({ '@type': ERROR_INFO, reason: name.toUpperCase(), domain: A2A_DOMAIN });

function violation(field: string, description: string): JsonObject {
  return { '@type': BAD_REQUEST, fieldViolations: [{ field, description }] };
}

/** Refusals for which A2A has an error. */
const a2aErrorByCode: Readonly<Record<string, A2aErrorName>> = {
  invalid_request: 'invalid_params',
  unknown_model: 'invalid_params',
  not_found: 'task_not_found',
  task_not_cancelable: 'task_not_cancelable',
  internal: 'internal',
};

/** All other refusals by HTTP status, in the range that A2A leaves to implementations. */
const byStatus: Readonly<Record<number, number>> = {
  400: -32040,
  401: -32041,
  402: -32042,
  403: -32043,
  409: -32049,
  410: -32050,
  413: -32053,
  429: -32059,
  500: -32603,
  502: -32062,
  503: -32063,
};

type RefusalAnswer = Pick<Answer, 'status' | 'body'>;

function factsIn({ status, body }: RefusalAnswer): { readonly code: string; readonly facts: JsonObject } {
  const parsed: Json = typeof body === 'string' && body !== '' ? (JSON.parse(body) as Json) : {};
  const facts = isJsonObject(parsed) ? parsed : {};
  return { code: typeof facts.code === 'string' ? facts.code : (emptyCodes[status] ?? 'internal'), facts };
}

/** A refusal by an endpoint as a JSON-RPC error: the same code as by REST, with all facts. */
export function refusalOf(answer: RefusalAnswer): RpcError {
  const { status } = answer;
  const { code, facts } = factsIn(answer);
  const message = String(facts.detail ?? facts.error ?? code);
  const a2a = a2aErrorByCode[code];
  const info = a2a ? errorOfA2a(a2a) : { '@type': ERROR_INFO, reason: code.toUpperCase(), domain: OUR_DOMAIN };
  const param = isJsonObject(facts.error) ? facts.error.param : null;
  return {
    code: a2a ? a2aErrors[a2a][0] : (byStatus[status] ?? a2aErrors.internal[0]),
    message,
    data: [
      { ...info, metadata: { http_status: String(status) } },
      ...(typeof param === 'string' ? [violation(param, message)] : []),
      { '@type': FACTS, value: facts },
    ],
  };
}

/** Codes for refusals that have an empty body. */
const emptyCodes: Readonly<Record<number, string>> = {
  401: 'unauthenticated',
  402: 'payment_required',
  403: 'forbidden',
};

/** Statuses that are only in the JSON-RPC error, where A2A clients look for them. */
export const isOnlyInRpc = (status: number): boolean => status === 400 || status === 404;

/** The HTTP status of an error: 200 if A2A has a name for it, otherwise that of the endpoint. Internal errors keep their status. */
export function httpStatusOf(answer: RefusalAnswer): number {
  const { status } = answer;
  const inside = isOnlyInRpc(status) || (status < 500 && Object.hasOwn(a2aErrorByCode, factsIn(answer).code));
  return inside ? 200 : status;
}
