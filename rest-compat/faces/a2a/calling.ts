import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import type { DocumentDoor, Face } from '../../door.ts';
import type { BodySource, DoorRequest } from '../../door-request.ts';
import type { Answer } from '../../problem.ts';
import type { ProtocolVersion } from './dialect.ts';
import { type Extension, echoOf } from './extension.ts';
import { httpStatusOf, refusalOf } from './faults.ts';
import { type RpcCall, rpcFailure, rpcResult } from './json-rpc.ts';
import { legacyResult, legacyTask } from './legacy.ts';

/** One call by JSON-RPC, on its way to a door. */
export interface Calling {
  readonly call: RpcCall;
  readonly version: ProtocolVersion;
  /** That which sells chats at this path. */
  readonly door: DocumentDoor;
  readonly request: DoorRequest;
  readonly house: Face;
  /** x402 in metadata, where its client has activated it. */
  readonly extension: Extension | null;
}

/** A body that was read already, and found room then. */
export function readBody(value: JsonObject): BodySource {
  return { expectedBytes: () => 0, read: async () => ({ kind: 'json', value }) };
}

/** `{task}`, or an update of one, as that version has it. */
export function resultOf({ version }: Calling, result: JsonObject): JsonObject {
  return version === '0.3' ? legacyResult(result) : result;
}

export function answerWith(calling: Calling, result: Json, headers: Answer['headers'] = {}): Answer {
  const { call, extension, request } = calling;
  return rpcResult(call.id, result, { ...headers, ...echoOf(extension, request.headers) });
}

/** A task that is itself the result: of GetTask and CancelTask. */
export function toldTask(calling: Calling, task: JsonObject, headers: Answer['headers']): Answer {
  return answerWith(calling, calling.version === '0.3' ? legacyTask(task) : task, headers);
}

/** What a door refused with: its status where a client acts on that, and its headers, among them when to ask again. */
export function refusedCall({ call }: Pick<Calling, 'call'>, answer: Answer): Answer {
  const told = { status: httpStatusOf(answer), headers: answer.headers, beside: offerOfV1(answer) };
  return rpcFailure(call.id, refusalOf(answer), told);
}

/** Clients of x402's first version read what is asked for at the top of a 402's body, whatever else it is. */
function offerOfV1({ status, body }: Answer): JsonObject {
  if (status !== 402 || typeof body !== 'string' || body === '') return {};
  const { x402Version = null, accepts } = JSON.parse(body) as JsonObject;
  return Array.isArray(accepts) ? { x402Version, accepts } : {};
}
