import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { PaymentRequired } from '@x402/core/types';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { officialClient, type Wallet } from './buyer.ts';
import type { ToolResult } from './mcp-message.ts';

/**
 * Calls a tool and pays its price once, as x402's own client for MCP does (@x402/mcp, x402MCPClient.callTool): the challenge is read from
 * `structuredContent`, or else from the first text, and the payment is sent in `_meta`. x402's official client makes the payment.
 */
export async function payTool(
  client: Pick<Client, 'callTool'>,
  account: Wallet,
  name: string,
  given: JsonObject,
): Promise<{ readonly result: ToolResult; readonly payment: JsonObject }> {
  const asked = requiredBy(await useTool(client, name, given));
  if (asked === null) throw new Error(`${name} asks for no payment`);
  const payment = (await officialClient(account).createPaymentPayload(asked)) as unknown as JsonObject;
  return { result: await useTool(client, name, given, { 'x402/payment': payment }), payment };
}

export async function useTool(
  client: Pick<Client, 'callTool'>,
  name: string,
  given: JsonObject = {},
  _meta: JsonObject = {},
): Promise<ToolResult> {
  return (await client.callTool({ name, arguments: given, _meta })) as unknown as ToolResult;
}

function requiredBy({ isError, structuredContent, content }: ToolResult): PaymentRequired | null {
  if (!isError) return null;
  const found = 'accepts' in (structuredContent ?? {}) ? structuredContent : JSON.parse(content[0]?.text ?? 'null');
  return found as unknown as PaymentRequired;
}
