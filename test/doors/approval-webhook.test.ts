import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { approvalText, approvalWebhookText } from '../../schema/session/approval.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { webhookDoorsOf } from '../harness/doors/webhooks.ts';
import { nowSeconds } from '../harness/session/delegate.ts';
import { openWallets } from '../harness/wallets.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

/*
 * Where links that answer approvals may be sent. A client with the book's session makes these calls, so it must not be able to choose the
 * address alone.
 */

let service: Service;
beforeAll(async () => {
  service = await openService({});
});

const { path, shown, put, read, remove, consent, putForApprovals } = webhookDoorsOf(() => service);
const OWN = 'https://hooks.invalid/in?key=k';
const OTHER = 'https://others.invalid/in';
const missing = { status: 401, body: { code: 'control_proof_missing', error: { param: 'wallet_signature' } } };
const wrong = { status: 401, body: { code: 'control_proof_invalid' } };
const webhookBody = (url: string) => ({ url, events: ['settle', 'approval'] });
const eventsOf = async (agent: Agent) => (await read(agent)).body.webhook?.events ?? null;

describe('PUT /v1/agents/{agent_id}/book/webhook with the kind `approval`', () => {
  it('401 by the session alone, and nothing is set; 200 with the word of the agentWallet', async () => {
    const agent = await service.newAgent();
    expect(await put(agent, webhookBody(OWN))).toMatchObject(missing);
    const { signature_timestamp, wallet_signature } = await consent(agent, OWN);
    expect(await put(agent, { ...webhookBody(OWN), signature_timestamp })).toMatchObject(missing);
    expect(await put(agent, { ...webhookBody(OWN), wallet_signature })).toMatchObject(missing);
    expect((await read(agent)).body.webhook).toBeNull();
    const set = await put(agent, { ...webhookBody(OWN), signature_timestamp, wallet_signature });
    expect(set).toMatchObject({ status: 200, body: { webhook: { events: ['settle', 'approval'] } } });
  });

  it('401 where it is opted in to, disabled or not, where the URL changes, and where it was opted out of or removed', async () => {
    const agent = await service.newAgent();
    expect((await put(agent, { url: OWN })).status).toBe(200);
    expect(await put(agent, webhookBody(OWN))).toMatchObject(missing);
    expect(await put(agent, { ...webhookBody(OWN), enabled: false })).toMatchObject(missing);
    expect((await putForApprovals(agent, OWN)).status).toBe(200);
    expect(await put(agent, webhookBody(OTHER))).toMatchObject(missing);
    expect(await put(agent, webhookBody(`${OWN}&more`))).toMatchObject(missing);
    expect((await put(agent, { url: OWN })).status).toBe(200);
    expect(await put(agent, webhookBody(OWN))).toMatchObject(missing);
    expect((await putForApprovals(agent, OWN)).status).toBe(200);
    expect((await remove(agent)).status).toBe(200);
    expect(await put(agent, webhookBody(OWN))).toMatchObject(missing);
    expect(await eventsOf(agent)).toBeNull();
  });

  it('200 by the session alone where the same URL is told of approvals already, however it is spelt, and for all else', async () => {
    const agent = await service.newAgent();
    const signed = await consent(agent, OWN);
    expect((await put(agent, { ...webhookBody(OWN), ...signed })).status).toBe(200);
    expect((await put(agent, webhookBody(OWN))).status).toBe(200);
    // The same body with an expired signature changes nothing, so the signature is not checked.
    expect((await put(agent, { ...webhookBody(OWN), ...signed, signature_timestamp: 1 })).status).toBe(200);
    expect((await put(agent, webhookBody('https://HOOKS.invalid:443/x/../in?key=k'))).status).toBe(200);
    const changes: JsonObject[] = [{ enabled: false }, {}, { secret: 's'.repeat(40) }, { events: ['approval'] }];
    for (const change of changes) expect((await put(agent, { ...webhookBody(OWN), ...change })).status).toBe(200);
    expect(await eventsOf(agent)).toEqual(['approval']);
    expect((await put(agent, { url: OTHER })).status).toBe(200);
    expect(await eventsOf(agent)).not.toContain('approval');
  });

  it('200: what was opted in to before anybody was asked for a word of it stays', async () => {
    const agent = await service.newAgent();
    expect((await put(agent, { url: OWN })).status).toBe(200);
    await service.query(`update webhook set events = '["settle", "approval"]' where agent_id = $1`, [agent.agent_id]);
    expect((await put(agent, webhookBody(OWN))).status).toBe(200);
    expect(await put(agent, webhookBody(OTHER))).toMatchObject(missing);
    expect(await eventsOf(agent)).toEqual(['settle', 'approval']);
  });

  it('200 with the word of a contract wallet (ERC-1271); 401 with that of its key', async () => {
    const [agent, contract] = [await service.newAgent(), await openWallets(service.chain).plain()];
    await service.query('update agent set wallet = $2 where agent_id = $1', [agent.agent_id, contract.address]);
    expect(await putForApprovals(agent, OWN)).toMatchObject(wrong);
    const by = { ...agent, account: contract as never };
    expect((await put(agent, { ...webhookBody(OWN), ...(await consent(by, OWN)) })).status).toBe(200);
  });

  it('400 on a time that is none, 413 on a body that is longer than any signature', async () => {
    const agent = await service.newAgent();
    const signed = await consent(agent, OWN);
    expect((await put(agent, { ...webhookBody(OWN), ...signed, signature_timestamp: -1 })).status).toBe(400);
    const long = { ...signed, wallet_signature: `0x${'00'.repeat(20_000)}` };
    expect((await put(agent, { ...webhookBody(OWN), ...long })).status).toBe(413);
  });
});

describe('a word of the agentWallet', () => {
  const at = nowSeconds();
  it.each<[string, (agent: Agent, other: Agent) => string]>([
    ['of another service', ({ agent_id }) => approvalWebhookText('https://other.invalid', { agent_id, url: OWN }, at)],
    ['of another agent', (_, { agent_id }) => approvalWebhookText(service.url, { agent_id, url: OWN }, at)],
    ['of another URL', ({ agent_id }) => approvalWebhookText(service.url, { agent_id, url: OTHER }, at)],
    ['of another time', ({ agent_id }) => approvalWebhookText(service.url, { agent_id, url: OWN }, at + 1)],
    ['that answers', () => approvalText(service.url, { approval_id: OWN, request_hash: 'x' }, 'approve', at)],
  ])('401 %s', async (_, textOf) => {
    const [agent, other] = [await service.newAgent(), await service.newAgent()];
    const wallet_signature = await agent.account.signMessage({ message: textOf(agent, other) });
    expect(await put(agent, { ...webhookBody(OWN), wallet_signature, signature_timestamp: at })).toMatchObject(wrong);
    expect((await read(agent)).body.webhook).toBeNull();
  });

  it('401 by another wallet, beyond its time, and of what is no signature', async () => {
    const [agent, other] = [await service.newAgent(), await service.newAgent()];
    const by = { ...agent, account: other.account };
    for (const signed of [
      await consent(by, OWN),
      await consent(agent, OWN, nowSeconds() - 301),
      await consent(agent, OWN, nowSeconds() + 60),
      { wallet_signature: '0x12', signature_timestamp: nowSeconds() },
      { wallet_signature: 'mine', signature_timestamp: nowSeconds() },
    ])
      expect(await put(agent, { ...webhookBody(OWN), ...signed })).toMatchObject(wrong);
    expect((await read(agent)).body.webhook).toBeNull();
  });

  it('opens nothing: 401 without the session, 403 with another book’s, empty', async () => {
    const [agent, other] = [await service.newAgent(), await service.newAgent()];
    const body = { ...webhookBody(OWN), ...(await consent(agent, OWN)) };
    expect(await put(agent, body, {})).toMatchObject({ status: 401, text: '' });
    expect(await put(agent, body, shown(other))).toMatchObject({ status: 403, text: '' });
    // A repeated answer returns the earlier decision.
    const knock = () => service.knock('POST', path(agent), { body, headers: shown(agent) });
    expect([(await knock()).status, (await knock()).status]).toEqual([200, 200]);
  });
});

it('setWebhook on the graph: the same rule', async () => {
  const agent = await service.newAgent();
  const query = `mutation ($agentId: Int!, $input: WebhookInput!) {
    setWebhook(agentId: $agentId, input: $input) { webhook { events } } }`;
  const set = async (input: JsonObject) => {
    const variables = { agentId: agent.agent_id, input: { url: OWN, events: ['approval'], ...input } };
    return (await service.post<JsonObject>('/graphql', { query, variables }, shown(agent))).body;
  };
  expect(await set({})).toMatchObject({ errors: [{ extensions: { code: 'control_proof_missing' } }] });
  const of_other = await consent(agent, OTHER);
  const spelt = (it: typeof of_other) => ({
    walletSignature: it.wallet_signature,
    signatureTimestamp: it.signature_timestamp,
  });
  expect(await set(spelt(of_other))).toMatchObject({ errors: [{ extensions: { code: 'control_proof_invalid' } }] });
  expect((await read(agent)).body.webhook).toBeNull();
  const right = { data: { setWebhook: { webhook: { events: ['approval'] } } } };
  expect(await set(spelt(await consent(agent, OWN)))).toMatchObject(right);
  expect(await set({})).toMatchObject(right);
});
