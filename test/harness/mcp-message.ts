import type { JsonObject } from '../../schema/canonical-json.ts';

export const MODERN = '2026-07-28';
export const LEGACY = '2025-11-25';

export interface McpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: { readonly id?: string | number; readonly result?: ToolResult; readonly error?: Fault } | null;
}
interface Fault {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonObject;
}
/** The result of a tool call, with the members that tests read. */
export interface ToolResult {
  readonly isError?: boolean;
  readonly structuredContent: JsonObject;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly _meta: JsonObject;
  /** Member of the x402 extension: the challenge of a call that must be paid. */
  readonly paymentRequired?: JsonObject;
}

/** Sends a message to /mcp. `headers` replaces default headers. */
export async function sendMessage(
  url: string,
  message: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<McpAnswer> {
  const answer = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
  const text = await answer.text();
  const is_json = answer.headers.get('content-type')?.startsWith('application/json');
  return { status: answer.status, headers: answer.headers, text, body: is_json ? JSON.parse(text) : null };
}

/** A request of a protocol version without a handshake, with the headers that repeat parts of its content. */
export function modern(method: string, params: JsonObject = {}, capabilities: JsonObject = {}, meta: JsonObject = {}) {
  const headers: Record<string, string> = { 'mcp-protocol-version': MODERN, 'mcp-method': method };
  if (typeof params.name === 'string') headers['mcp-name'] = params.name;
  return {
    headers,
    message: {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': MODERN,
          'io.modelcontextprotocol/clientCapabilities': capabilities,
          ...meta,
        },
      },
    },
  };
}

export function legacy(method: string, params: JsonObject = {}, id: string | number = 1): JsonObject {
  return { jsonrpc: '2.0', id, method, params };
}

export function toolCall(name: string, given: JsonObject = {}, meta: JsonObject = {}): JsonObject {
  return legacy('tools/call', { name, arguments: given, _meta: meta });
}

/** The `_meta` of a tool call that carries the payment of a header. Empty without a payment. */
export const paidBy = (header: string | undefined): JsonObject =>
  header ? { 'x402/payment': JSON.parse(Buffer.from(header, 'base64').toString()) as JsonObject } : {};

export const begin = legacy('initialize', {
  protocolVersion: LEGACY,
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});
