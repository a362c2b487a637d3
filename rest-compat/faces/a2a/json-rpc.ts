import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import type { Answer } from '../../problem.ts';
import { A2aFault, type RpcError } from './faults.ts';

/* JSON-RPC 2.0 as A2A uses it: one call, one response. */

export type RpcId = string | number | null;

export interface RpcCall {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

/** Whether a body is meant as a call, valid or not. */
export const isRpc = (body: JsonObject): boolean => Object.hasOwn(body, 'jsonrpc');

/** The id for the response. Null if the call has no valid one (JSON-RPC 2.0 §5). */
export function idOf({ id }: JsonObject): RpcId {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** @throws A2aFault invalid_request, invalid_params */
export function readRpc(body: JsonObject): RpcCall {
  const { jsonrpc, method, params = {} } = body;
  const named = body.id === undefined || body.id === null || idOf(body) !== null;
  if (jsonrpc !== '2.0') throw new A2aFault('invalid_request', 'jsonrpc must be "2.0".');
  if (!named) throw new A2aFault('invalid_request', 'id must be a string, a number or null.');
  if (typeof method !== 'string') throw new A2aFault('invalid_request', 'method must be a string.');
  if (!isJsonObject(params)) throw new A2aFault('invalid_params', 'params must be an object.');
  return { id: idOf(body), method, params };
}

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' } as const;

export function rpcResult(id: RpcId, result: Json, headers: Answer['headers'] = {}): Answer {
  return { status: 200, headers: { ...headers, ...jsonHeaders }, body: JSON.stringify({ jsonrpc: '2.0', id, result }) };
}

/** HTTP form of a failure: status 200 if JSON-RPC can express it. `beside`: members for clients that only know HTTP. */
interface HttpForm extends Pick<Answer, 'status' | 'headers'> {
  readonly beside: JsonObject;
}

export function rpcFailure(
  id: RpcId,
  error: RpcError,
  { status, headers, beside }: HttpForm = { status: 200, headers: {}, beside: {} },
): Answer {
  return {
    status,
    headers: { ...headers, ...jsonHeaders },
    body: JSON.stringify({ jsonrpc: '2.0', id, error, ...beside }),
  };
}
