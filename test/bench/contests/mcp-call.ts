import type { JsonObject } from '../../../schema/canonical-json.ts';
import { modern } from '../../harness/mcp-message.ts';
import type { Child } from '../child/child.ts';
import { type Arena, atMost, type Contest, cpuMs, type Side } from '../contest.ts';
import { drive, once } from '../load/callers.ts';
import { bytesOf } from '../load/connection.ts';
import { chat, chatAtDoor, paidSide } from '../paid-side.ts';
import type { GatewayReady } from '../servers/gateway.ts';

const CALLERS = 64;

/** Cost of a tool call by an MCP client, compared with the REST endpoint that does the same work in the same process. */
export const mcpPaidCall: Contest = {
  name: 'mcp-paid-call',
  beside: 'the REST door of the same service',
  lines: [{ name: 'paid call by an MCP tool: CPU', unit: 'ms', goal: atMost(1.3), of: cpuMs }],
  async open({ stage, seconds, quick }) {
    const gateway = await stage.gateway();
    const byTool = (payment: string) => toolCall(gateway.ready.url, 'chat_completions', chat, paymentIn(payment));
    const byDoor = (payment: string) => chatAtDoor(gateway.ready.url, payment);
    for (const way of [byTool, byDoor]) await paidSide(gateway, way, quick ? 0.5 : 1.5).round();
    return { ours: paidSide(gateway, byTool, seconds), beside: paidSide(gateway, byDoor, seconds) };
  },
};

/** The same comparison for a page of a book. A tool sends the page twice: as text and as structured content. */
export const mcpPage: Contest = {
  name: 'mcp-page',
  beside: 'the REST door of the same service',
  lines: [{ name: 'book page of 50 rows by an MCP tool: CPU', unit: 'ms', goal: atMost(1.3), of: cpuMs }],
  async open({ stage, ...arena }) {
    const gateway = await stage.gateway();
    const { agent_id, session } = await stage.book();
    const { url } = gateway.ready;
    const shown = { 'x-svc-session': session };
    const path = `${url}/v1/agents/${agent_id}/book?limit=50`;
    return {
      ours: await asking(gateway, toolCall(url, 'get_agent_book', { agent_id, limit: 50 }, {}, shown), arena),
      beside: await asking(gateway, bytesOf({ method: 'GET', url: path, headers: shown }), arena),
    };
  },
};

function toolCall(url: string, name: string, given: JsonObject, meta: JsonObject, shown: Record<string, string> = {}) {
  const { message, headers } = modern('tools/call', { name, arguments: given }, {}, meta);
  const accept = { accept: 'application/json, text/event-stream' };
  const body = JSON.stringify(message);
  return bytesOf({ method: 'POST', url: `${url}/mcp`, headers: { ...accept, ...headers, ...shown }, body });
}

function paymentIn(header: string): JsonObject {
  return { 'x402/payment': JSON.parse(Buffer.from(header, 'base64').toString()) };
}

async function asking(
  gateway: Child<GatewayReady>,
  request: Buffer,
  { seconds }: Pick<Arena, 'seconds'>,
): Promise<Side> {
  const { url } = gateway.ready;
  const { body } = await once(url, request);
  // Counts only the structured content, because quotes are escaped in the text part.
  if ((body.match(/[^\\]"task_id":/g)?.length ?? 0) < 50) throw new Error(`not a page of 50 rows: ${body}`);
  return {
    round: () => drive({ url, servers: [gateway], request: () => request, seconds, callers: CALLERS, status: 200 }),
  };
}
