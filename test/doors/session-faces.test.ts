import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch } from '../harness/buyer.ts';
import { ask, CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';
import { payTool, useTool } from '../harness/paying-tools.ts';
import { atEnd } from '../harness/release.ts';
import { type DelegatedSession, delegate, headerOf, nowSeconds } from '../harness/session/delegate.ts';
import { newKey, sessionPath } from '../harness/session/trees.ts';

/* A grant with a payment through other faces than REST: it binds, limits and refuses in the same way. */

let service: Service;
let owner: Awaited<ReturnType<Service['newAgent']>>;
beforeAll(async () => {
  service = await sharedService();
  owner = await service.newAgent();
});

const newSession = (more = {}) => delegate(owner.account, owner.account, newKey(), more);
const stateOf = async ({ delegation_hash }: DelegatedSession) =>
  (await service.get(sessionPath(delegation_hash))).status;

const CREATE = `mutation ($input: ChatCompletionInput!) {
  createChatCompletion(input: $input) { svc } }`;

async function bought(content: string, headers: Record<string, string>) {
  const variables = { input: { messages: [{ role: 'user', content }] } };
  const { status, body } = await service.knock<{
    readonly data?: { readonly createChatCompletion: { readonly svc: { readonly task_id: string } } | null };
    readonly errors?: readonly { readonly extensions: JsonObject }[];
  }>('POST', '/graphql', { body: { query: CREATE, variables }, headers, by: payingFetch(owner.account) });
  return { status, fault: body.errors?.[0]?.extensions, task_id: body.data?.createChatCompletion?.svc.task_id };
}

/** The official client, which sends a grant with each of its calls. */
async function connect(headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit: { headers } });
  await client.connect(transport as never);
  atEnd(() => client.close());
  return client;
}

describe('a grant on /graphql', () => {
  it('200: is bound by the payment, and its receipt says so', async () => {
    const session = await newSession();
    const { status, task_id } = await bought('Bound on the graph', session.headers);
    expect(status).toBe(200);
    expect((await service.get(`/receipt/${task_id}.json`)).body).toMatchObject({
      delegation_hash: session.delegation_hash,
      caller_binding: { agent_pubkey: session.grant.agentPubkey },
    });
    expect(await stateOf(session)).toBe(200);
  });

  it.each([
    ['delegation_invalid', 400, async () => headerOf({ grant: 'none' })],
    ['delegation_invalid', 400, async () => (await delegate(newKey(), owner.account, newKey())).headers],
    ['grant_exceeded', 403, async () => (await newSession({ doors: ['submit_inference'] })).headers],
    ['session_not_active', 403, async () => (await newSession({ sessionExpiry: nowSeconds() - 1 })).headers],
    ['session_cap_exceeded', 403, async () => (await newSession({ capAtomic: '1' })).headers],
  ] as const)('%s %i, and nothing is charged', async (code, status, headers) => {
    const before = (await service.transfersFrom(owner.account)).length;
    const { fault } = await bought('Refused on the graph', await headers());
    expect(fault).toMatchObject({ code, status, charged: false });
    expect(await service.transfersFrom(owner.account)).toHaveLength(before);
  });
});

describe('a grant by the header of /mcp', () => {
  it('is bound by the payment of a tool, and spends its cap and no more', async () => {
    const session = await newSession({ capAtomic: '2000' });
    const client = await connect(session.headers);
    const { result } = await payTool(client, owner.account, 'chat_completions', ask('By a tool'));
    expect(result.structuredContent).toMatchObject({ svc: { delegation_hash: session.delegation_hash } });
    expect(await stateOf(session)).toBe(200);
    const { result: refused } = await payTool(client, owner.account, 'chat_completions', ask('By a tool again'));
    expect(refused).toMatchObject({
      isError: true,
      structuredContent: { code: 'session_cap_exceeded', charged: false },
    });
    const shown = await useTool(client, 'get_session', { delegation_hash: session.delegation_hash });
    expect(shown.structuredContent).toMatchObject({ status: 'active', ended_by: null });
  });

  it('that is none is 400 delegation_invalid as at its door, uncharged', async () => {
    const client = await connect(headerOf({ grant: 'none' }));
    const { result, payment } = await payTool(client, owner.account, 'chat_completions', ask('With no grant'));
    expect(result).toMatchObject({ isError: true, structuredContent: { code: 'delegation_invalid', charged: false } });
    // The payment is unused, so it buys without the grant.
    const header = Buffer.from(JSON.stringify(payment)).toString('base64');
    expect((await service.post(CHAT, ask('With no grant'), { 'PAYMENT-SIGNATURE': header })).status).toBe(200);
  });
});
