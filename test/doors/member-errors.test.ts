import { request } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { ask, CHAT, REGISTER, type Service, sharedService } from '../harness/doors/open-service.ts';
import { sendMessage, toolCall } from '../harness/mcp-message.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
});

const bookPath = (beneath = '') => `/v1/agents/${agent.agent_id}/book${beneath}`;
const possession = () => ({ 'X-SVC-Session': agent.session });

describe('400, with the member by name', () => {
  it.each<[string, () => string, JsonObject]>([
    ['a book', () => bookPath(), { budgett: '5' }],
    ['an inflow', () => bookPath('/inflow'), { allocation: '1', buckett: 'x' }],
    ['a rotation', () => bookPath('/rotate'), { force: true }],
    ['a ping', () => bookPath('/webhook/ping'), { url: 'https://example.com' }],
    ['a challenge', () => `/v1/sessions/0x${'ab'.repeat(32)}/challenge`, { ttl: 120 }],
  ])('of %s that does not know it', async (_, path, body) => {
    const name = Object.keys(body).at(-1) ?? '';
    const refused = await service.post(path(), body, possession());
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(JSON.stringify(refused.body.detail)).toContain(name);
  });

  it('of a registration, and the payment buys as it did before', async () => {
    const account = await service.chain.newWallet();
    const payment = await service.payment(account, REGISTER);
    const refused = await service.post(REGISTER, { agentWallet: account.address, wallet: 'x' }, payment);
    expect(refused).toMatchObject({ status: 400, body: { error: { param: 'wallet' } } });
    expect(await service.claimsOf(account)).toEqual([]);
  });

  it.each<[string, () => string, string, string]>([
    ['a book', () => bookPath(), '{"limit":1,"limit":2}', 'limit'],
    ['in any spelling', () => bookPath('/inflow'), '{"allocation":"1","\\u0061llocation":"2"}', 'allocation'],
    ['within another', () => bookPath('/dispute'), '{"evidence":{"a":[{"b":1,"b":1}]}}', 'b'],
  ])('that is named twice: %s', async (_, path, body, param) => {
    const refused = await service.knock('POST', path(), { body, headers: possession() });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
  });

  it('that a paid call names twice: 402 unpaid; paid 400 before it is claimed, and the same payment buys', async () => {
    const account = await service.chain.newWallet();
    const body = `{"messages":[],${JSON.stringify(ask()).slice(1)}`;
    expect((await service.knock('POST', CHAT, { body })).status).toBe(402);
    const headers = await service.payment(account, CHAT);
    expect(await service.knock('POST', CHAT, { body, headers })).toMatchObject({
      status: 400,
      body: { error: { param: 'messages' } },
    });
    expect(await service.claimsOf(account)).toEqual([]);
    expect((await service.post(CHAT, ask(), headers)).status).toBe(200);
  });

  it('that a GraphQL request names twice', async () => {
    const body = '{"query":"{ __typename }","query":"{ __typename }"}';
    const refused = await service.knock<{ errors: JsonObject[] }>('POST', '/graphql', { body });
    expect(refused.status).toBe(400);
    expect(refused.body.errors[0]).toMatchObject({ extensions: { code: 'invalid_request', param: 'query' } });
  });

  it('that the variables of a GraphQL request in a URL name twice', async () => {
    const asked = new URLSearchParams({
      query: 'query ($id: String!) { receipt(taskId: $id) { taskId } }',
      variables: '{"id":"task_one","id":"task_two"}',
    });
    const headers = { 'x-apollo-operation-name': 'asked' };
    const refused = await service.knock<{ errors: JsonObject[] }>('GET', `/graphql?${asked}`, { headers });
    expect(refused.status).toBe(400);
    expect(refused.body.errors[0]).toMatchObject({ extensions: { code: 'invalid_request', param: 'id' } });
  });
});

describe('400, with the parameter of the query by name', () => {
  it.each<[string, () => string, string]>([
    ['a filter of a book', () => bookPath('?evidnce=collected'), 'evidnce'],
    ['a filter where there is none', () => bookPath('/approvals?state=open'), 'state'],
    ['a snapshot of the issuer', () => '/.well-known/issuer-history.json?generation=1', 'generation'],
    ['a page of revocations', () => '/.well-known/revocations?after=1', 'after'],
    ['a head of the log', () => '/log/checkpoint?size=1', 'size'],
    ['a published export', () => '/public/export/none?form=csv', 'form'],
    ['a status', () => '/task-status?task_id=task_x&payer=0x1', 'payer'],
    ['models', () => '/v1/models?hub=alpha', 'hub'],
  ])('of %s', async (_, path, param) => {
    const message = `${param}: this endpoint has no query parameter of this name.`;
    expect(await service.get(path(), possession())).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', error: { param, message } },
    });
  });

  it('of a paid call: 402 unpaid; paid 400 before it is claimed, and the same payment buys', async () => {
    const account = await service.chain.newWallet();
    const headers = await service.payment(account, CHAT);
    expect((await service.post(`${CHAT}?intent_id=i`, ask())).status).toBe(402);
    expect(await service.post(`${CHAT}?intent_id=i`, ask(), headers)).toMatchObject({
      status: 400,
      body: { error: { param: 'intent_id' } },
    });
    expect(await service.claimsOf(account)).toEqual([]);
    expect((await service.post(CHAT, ask(), headers)).status).toBe(200);
  });

  it('but for a receipt, whose address is passed on between people', async () => {
    const { body } = await service.post<{ svc: { task_id: string } }>(CHAT, ask(), { 'X-API-Key': 'a-live-key' });
    expect((await service.get(`/receipt/${body.svc.task_id}?utm_source=mail`)).status).toBe(200);
  });
});

describe('400, with the header by name', () => {
  const param = 'x-svc-sesion';
  const unknown = () => ({ 'X-SVC-Sesion': agent.session });

  it('of a paid call: 402 unpaid; paid 400 before it is claimed, and the same payment buys', async () => {
    const account = await service.chain.newWallet();
    const payment = await service.payment(account, CHAT);
    expect((await service.post(CHAT, ask(), unknown())).status).toBe(402);
    expect(await service.post(CHAT, ask(), { ...payment, ...unknown() })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', error: { param } },
    });
    expect(await service.claimsOf(account)).toEqual([]);
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
  });

  it.each([
    ['X-SVC-Intent', 'the input member intentId'],
    ['X-SVC-Attempt', 'the input member attemptIndex'],
    ['X-SVC-Parent', 'the input member parentRef'],
    ['X-SVC-Payer', 'the argument payer of boughtTask, boughtTasks or cancelTask'],
    ['X-SVC-Approval', 'the argument token of linkedApproval or answerLinkedApproval'],
  ])('of /graphql, where an argument says what %s says elsewhere: %s', async (name, instead) => {
    const query = { query: '{ __typename }' };
    const asked = await service.post<{ errors: JsonObject[] }>('/graphql', query, { [name]: '1' });
    expect(asked.status).toBe(400);
    const param = name.toLowerCase();
    expect(asked.body.errors[0]).toMatchObject({
      message: `${param}: this header is not read here. Use ${instead}.`,
      extensions: { param },
    });
  });

  it('of a read, of /graphql and of a tool', async () => {
    expect(await service.get('/v1/models', unknown())).toMatchObject({ status: 400, body: { error: { param } } });
    const asked = await service.post<{ errors: JsonObject[] }>('/graphql', { query: '{ __typename }' }, unknown());
    expect(asked.status).toBe(400);
    expect(asked.body.errors[0]).toMatchObject({ extensions: { code: 'invalid_request', param } });
    const told = await sendMessage(service.url, toolCall('list_models'), unknown());
    expect(told.body?.result).toMatchObject({ isError: true, structuredContent: { error: { param } } });
  });
});

describe('403 of a proof that a paid call can be shown no agent by', () => {
  it('before any charge: it would land on another book', async () => {
    const account = await service.chain.newWallet();
    const payment = await service.payment(account, CHAT);
    const proof = { 'X-SVC-Proof': `sha256=${'ab'.repeat(32)}` };
    expect(await service.post(CHAT, ask(), { ...payment, ...proof })).toMatchObject({ status: 403, text: '' });
    expect(await service.post(CHAT, ask(), { 'X-API-Key': 'a-live-key', ...proof })).toMatchObject({ status: 403 });
    expect(await service.claimsOf(account)).toEqual([]);
    expect((await service.post(CHAT, ask(), proof)).status).toBe(402);
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
  });
});

describe('400 of what looks like something and is nothing', () => {
  it.each<[string, string, JsonObject]>([
    ['an inflow of 0', '/inflow', { allocation: '0' }],
    ['a task_id .', '/inflow', { allocation: '1', task_id: '.' }],
    ['a task_id ..', '/inflow', { allocation: '1', task_id: '..' }],
    ['a bucket of white space', '/inflow', { allocation: '1', bucket: ' \t' }],
    ['a reason of white space', '/inflow/correct', { task_id: 'task_x', reason: ' \n\u00a0' }],
    ['a URL that ends in U+0000', '/webhook', { url: 'https://example.com/hook\u0000' }],
    ['a URL that ends in a line', '/webhook', { url: 'https://example.com/hook\n' }],
  ])('%s', async (_, beneath, body) => {
    expect(await service.post(bookPath(beneath), body, possession())).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  });

  it('a correction brings an inflow down to 0', async () => {
    const { body } = await service.post(bookPath('/inflow'), { allocation: '7' }, possession());
    const correction = { task_id: body.task_id ?? '', reason: 'It was not set aside', allocation: '0' };
    expect((await service.post(bookPath('/inflow/correct'), correction, possession())).status).toBe(200);
  });

  it.each(['limit=01', 'limit=00', 'before=007', 'limit=+1'])('a query %s', async query => {
    expect((await service.get(`${bookPath()}?${query}`, possession())).status).toBe(400);
  });

  it('a header that is no UTF-8; one that is UTF-8 says the same as the body would', async () => {
    const key = { 'X-API-Key': 'a-live-key' };
    const sent = (bytes: number[]) => sendRaw({ ...key, ...possession() }, 'X-SVC-Intent', bytes);
    expect(await sent([0x61, 0xff])).toMatchObject({ status: 400, body: { error: { param: 'x-svc-intent' } } });
    expect((await sent([0x63, 0x61, 0x66, 0xc3, 0xa9])).status).toBe(200);
    const { body } = await service.get<{ entries: JsonObject[] }>(`${bookPath()}?limit=1`, possession());
    expect(body.entries[0]).toMatchObject({ intent_id: 'café' });
  });
});

/** Sends a header with exactly these bytes. */
function sendRaw(headers: Record<string, string>, name: string, bytes: number[]) {
  return new Promise<{ status: number; body: JsonObject }>((resolve, reject) => {
    const sent = request(`${service.url}${CHAT}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', [name]: Buffer.from(bytes).toString('latin1') },
    });
    sent.once('error', reject).once('response', async answer => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      resolve({ status: answer.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) as JsonObject });
    });
    // Sent as bytes, because Node would write headers together with text as UTF-8.
    sent.end(Buffer.from(JSON.stringify(ask())));
  });
}

describe('an empty X-SVC-Session', () => {
  it('is 403 beside a payment and beside a key, before any charge; alone it shows nothing', async () => {
    const account = await service.chain.newWallet();
    const payment = await service.payment(account, CHAT);
    const empty = { 'X-SVC-Session': '' };
    expect(await service.post(CHAT, ask(), { ...payment, ...empty })).toMatchObject({ status: 403, text: '' });
    expect(await service.claimsOf(account)).toEqual([]);
    expect(await service.post(CHAT, ask(), { 'X-API-Key': 'a-live-key', ...empty })).toMatchObject({ status: 403 });
    expect((await service.post(CHAT, ask(), empty)).status).toBe(402);
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
  });
});

describe('400 of a payment that cannot be read, with header, version and member', () => {
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

  it.each<[string, Record<string, string>, RegExp]>([
    ['no base64', { 'PAYMENT-SIGNATURE': '!' }, /^PAYMENT-SIGNATURE \(x402 version 2\): the header is not base64\.$/],
    ['of v1 under the name of v2', { 'PAYMENT-SIGNATURE': encoded({ x402Version: 1 }) }, /version 2\): x402Version/],
    [
      'without its authorization',
      { 'X-PAYMENT': encoded({ x402Version: 1, scheme: 'exact', network: 'base', payload: { signature: '0x00' } }) },
      /^X-PAYMENT \(x402 version 1\): payload\.authorization is missing or not valid\.$/,
    ],
    [
      'with a name twice',
      { 'X-PAYMENT': Buffer.from('{"x402Version":1,"scheme":"a","scheme":"exact"}').toString('base64') },
      /^X-PAYMENT \(x402 version 1\): scheme is named twice in one object\.$/,
    ],
  ])('%s', async (_, headers, detail) => {
    const refused = await service.post(CHAT, ask(), headers);
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_payment' } });
    expect(refused.body.detail).toMatch(detail);
  });
});

describe('403 to whoever possesses a book', () => {
  it('says that a task is not on it', async () => {
    expect(await service.get(bookPath('/lineage/task_of_nobody'), possession())).toMatchObject({
      status: 403,
      body: { code: 'task_not_on_book' },
    });
  });

  it('is empty for a session that opens nothing', async () => {
    const wrong = { 'X-SVC-Session': 'a-session-of-nobody' };
    expect(await service.get(bookPath('/lineage/task_of_nobody'), wrong)).toMatchObject({ status: 403, text: '' });
  });
});
