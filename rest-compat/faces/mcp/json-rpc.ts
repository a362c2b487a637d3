import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { mcpLimits } from '../../../schema/limits.ts';

/* JSON-RPC 2.0 as MCP uses it: one message at a time. */

export type RequestId = string | number;

/** Codes of JSON-RPC, and those that MCP reserves (2026-07-28, "Error Codes"). */
export const rpcCodes = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
  invalid_params: -32602,
  internal: -32603,
  /** Codes of the transport: unknown session, too many requests. */
  refused: -32000,
  header_mismatch: -32020,
  unsupported_version: -32022,
} as const;
export type RpcCode = keyof typeof rpcCodes;

export interface RpcFault {
  readonly code: RpcCode;
  readonly message: string;
  readonly data?: JsonObject;
}

export type RpcMessage =
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'malformed'; readonly why: string };

export type RpcRequest = Extract<RpcMessage, { kind: 'request' }>;

/** Responses are ignored, because the service sends no requests to clients. */
export function messageIn({ jsonrpc, id, method, params = {} }: JsonObject): RpcMessage {
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !isJsonObject(params)) {
    return { kind: 'malformed', why: 'A request or notification of JSON-RPC 2.0 is expected.' };
  }
  if (id === undefined) return { kind: 'notification', method, params };
  if (typeof id === 'string' && id.length > mcpLimits.request_id_chars_max)
    return { kind: 'malformed', why: `id is longer than ${mcpLimits.request_id_chars_max} characters.` };
  if (typeof id === 'string' || Number.isSafeInteger(id))
    return { kind: 'request', id: id as RequestId, method, params };
  return { kind: 'malformed', why: 'id is a string or an integer.' };
}

/** The text before a result, and after it. */
export function resultFrame(id: RequestId): readonly [string, string] {
  return [`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`, '}'];
}

/** `result`: JSON text, which is sent verbatim. */
export function resultText(id: RequestId, result: string): string {
  return resultFrame(id).join(result);
}

/** Without an id if the request has no valid one. */
export function faultText(id: RequestId | null, { code, message, data }: RpcFault): string {
  const error = { code: rpcCodes[code], message, ...(data && { data }) };
  return JSON.stringify({ jsonrpc: '2.0', ...(id !== null && { id }), error });
}

export function notificationText(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

/** `params._meta`, or an empty object. */
export function metaOf(params: JsonObject): JsonObject {
  return isJsonObject(params._meta) ? params._meta : {};
}

export function memberOf(object: Json | undefined, name: string): Json | undefined {
  return isJsonObject(object) ? object[name] : undefined;
}
