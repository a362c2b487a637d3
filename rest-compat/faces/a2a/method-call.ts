import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import type { DocumentDoor, RestLayer } from '../../door.ts';
import type { BodySource, DoorRequest } from '../../door-request.ts';
import type { Answer } from '../../problem.ts';
import { type Extension, echoOf } from './extension.ts';
import { httpStatusOf, refusalOf } from './faults.ts';
import { type RpcCall, rpcFailure, rpcResult } from './json-rpc.ts';
import { legacyResult, legacyTask } from './legacy.ts';
import type { ProtocolVersion } from './methods.ts';

/** One JSON-RPC call to an endpoint. */
export interface MethodCall {
  readonly call: RpcCall;
  readonly version: ProtocolVersion;
  /** The endpoint that sells chats at this path. */
  readonly door: DocumentDoor;
  readonly request: DoorRequest;
  readonly layer: RestLayer;
  /** The x402 extension, if the client has activated it. */
  readonly extension: Extension | null;
}

/** A body that has been read already, within the body limit of its address. */
export function readBody(value: JsonObject): BodySource {
  return { expectedBytes: () => 0, read: async () => ({ kind: 'json', value }) };
}

/** `{task}` or an update of a task, in the form of the protocol version. */
export function resultOf({ version }: MethodCall, result: JsonObject): JsonObject {
  return version === '0.3' ? legacyResult(result) : result;
}

export function answerWith(method_call: MethodCall, result: Json, headers: Answer['headers'] = {}): Answer {
  const { call, extension, request } = method_call;
  return rpcResult(call.id, result, { ...headers, ...echoOf(extension, request.headers) });
}

/** A task that is itself the result, as in GetTask and CancelTask. */
export function taskAnswer(method_call: MethodCall, task: JsonObject, headers: Answer['headers']): Answer {
  return answerWith(method_call, method_call.version === '0.3' ? legacyTask(task) : task, headers);
}

/** A refusal by the endpoint as a JSON-RPC error, with its headers and, where clients act on it, its HTTP status. */
export function refuseCall({ call }: Pick<MethodCall, 'call'>, answer: Answer): Answer {
  const form = { status: httpStatusOf(answer), headers: answer.headers, beside: offerOfV1(answer) };
  return rpcFailure(call.id, refusalOf(answer), form);
}

/** Clients of x402 version 1 read the offer at the top level of a 402's body. */
function offerOfV1({ status, body }: Answer): JsonObject {
  if (status !== 402 || typeof body !== 'string' || body === '') return {};
  const { x402Version = null, accepts } = JSON.parse(body) as JsonObject;
  return Array.isArray(accepts) ? { x402Version, accepts } : {};
}
