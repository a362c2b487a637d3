import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { createClient } from 'graphql-ws';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { type Fetch, payingFetch, paymentFor, registrationOf, type Wallet } from '../../../harness/buyer.ts';
import { listen } from '../../../harness/doors/listen.ts';
import type { Chat, RegistrationAnswer } from '../../../harness/doors/open-service.ts';
import { openProcesses, type Processes } from '../../../harness/graph/remote/processes.ts';

let service: Processes;
let agent: RegistrationAnswer & { readonly account: Wallet };
beforeAll(async () => {
  service = await openProcesses();
  const account = await service.chain.newWallet();
  const { status, body } = await post<RegistrationAnswer>('/v1/agents/register', await registrationOf(account), {
    by: payingFetch(account),
  });
  expect(status).toBe(200);
  agent = { ...body, account };
});
beforeEach(() => service.hub.behave({ kind: 'answer' }));

interface Sent {
  readonly by?: Fetch;
  readonly headers?: Readonly<Record<string, string>>;
}

async function post<T = JsonObject>(path: string, body: unknown, { by = fetch, headers = {} }: Sent = {}) {
  const typed = { 'content-type': 'application/json', ...headers };
  const answer = await by(service.url + path, { method: 'POST', headers: typed, body: JSON.stringify(body) });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as T };
}

const CHAT = '/v1/chat/completions';
const ask = (content: string, members = {}) => ({
  model: 'test/model',
  messages: [{ role: 'user', content }],
  ...members,
});
const possessed = () => ({ 'x-svc-session': agent.session });

async function transfersFrom({ address }: Wallet): Promise<number> {
  const transfers = await service.chain.transfers(service.pay_to);
  return transfers.filter(({ from }) => from === address.toLowerCase()).length;
}

interface Result<T> {
  readonly data?: T | null;
  readonly errors?: readonly { readonly extensions: JsonObject }[];
}
interface Bought {
  readonly createChatCompletion: Chat & { readonly receipt: { readonly taskId: string; readonly agentId: number } };
}
const BUY = `mutation Buy($content: String!) {
  createChatCompletion(input: { model: "test/model", messages: [{ role: "user", content: $content }] }) {
    model svc receipt { taskId agentId }
  } }`;

describe('four subgraphs, each a process of its own, behind a gateway', () => {
  it('an inflow under an Idempotency-Key is one: its key is taken where it is written', async () => {
    const path = `/v1/agents/${agent.agent_id}/book/inflow`;
    const record = () => post(path, { allocation: '7' }, { headers: { ...possessed(), 'idempotency-key': 'a-retry' } });
    const heard = await Promise.all([record(), record(), record()]);
    for (const { status, body } of heard)
      expect([201, 'idempotency_key_in_flight']).toContain(status === 201 ? 201 : body.code);
    const again = await record();
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    const recorded = [...heard, again].flatMap(({ status, body }) => (status === 201 ? [body.task_id] : []));
    expect(new Set(recorded).size).toBe(1);
    const answer = await fetch(`${service.url}/v1/agents/${agent.agent_id}/book?evidence=inflow_claimed`, {
      headers: possessed(),
    });
    expect(await answer.json()).toMatchObject({ matching_count: 1 });
  });

  it('402 at the REST door and by /graphql, unpaid: each with PAYMENT-REQUIRED and its own offer', async () => {
    const door = await post(CHAT, ask('Hello'));
    const graph = await post<Result<null>>('/graphql', { query: BUY, variables: { content: 'Hello' } });
    for (const [{ status, headers }, path] of [
      [door, CHAT],
      [graph, '/graphql'],
    ] as const) {
      expect(status).toBe(402);
      expect(decodePaymentRequiredHeader(headers.get('PAYMENT-REQUIRED') ?? '')).toMatchObject({
        resource: { url: `http://svc.test${path}` },
        accepts: [{ amount: '2000', payTo: service.pay_to }],
      });
    }
    expect(door.body).toMatchObject({ x402Version: 1, accepts: [{ payTo: service.pay_to }] });
    expect(graph.body.errors?.[0]?.extensions).toMatchObject({
      code: 'payment_required',
      status: 402,
      x402: { accepts: [{ payTo: service.pay_to }] },
    });
    expect(graph.body.errors?.[0]?.extensions).not.toHaveProperty('answer_headers');
  });

  it('200 by the official client, by REST: the settlement and the receipt stand in its headers', async () => {
    const payer = await service.chain.newWallet();
    const { status, headers, body } = await post<Chat>(CHAT, ask('By REST'), { by: payingFetch(payer) });
    expect(status).toBe(200);
    expect(headers.get('x-svc-task-id')).toBe(body.svc.task_id);
    expect(headers.get('x-svc-settlement-status')).toBe('settled');
    expect(headers.get('x-svc-request-salt')).toMatch(/^[0-9a-f]{32}$/);
    expect(decodePaymentResponseHeader(headers.get('PAYMENT-RESPONSE') ?? '')).toMatchObject({
      success: true,
      transaction: body.svc.payment_ref.replace('base:', ''),
    });
    expect(body.svc.verify_url).toBe(`http://svc.test/receipt/${body.svc.task_id}`);
    expect(body.svc.payload).toMatchObject({ fulfillment: { intent: { resource: `http://svc.test${CHAT}` } } });
    const read = await fetch(`${service.url}/receipt/${body.svc.task_id}`);
    expect(await read.json()).toMatchObject({ task_id: body.svc.task_id });
    expect(await transfersFrom(payer)).toBe(1);
  });

  it('413 answer_too_large, charged, where aliases repeat a text of line breaks; the same payment brings it once', async () => {
    const content = '\n'.repeat(900_000);
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    service.hub.behave({ kind: 'status', status: 200, body: { choices } });
    const input = 'input: { model: "test/model", messages: [{ role: "user", content: "Breaks" }] }';
    const bought = (fields: string) =>
      `mutation { createChatCompletion(${input}) { choices { message { ${fields} } } } }`;
    const repeated = Array.from({ length: 12 }, (_, n) => `c${n}: content`).join(' ');
    const payer = await service.chain.newWallet();
    const headers = await paymentFor(payer, service.url + CHAT);
    const refused = await post<Result<null>>('/graphql', { query: bought(repeated) }, { headers });
    expect(refused.body.errors).toMatchObject([{ extensions: { code: 'answer_too_large', charged: true } }]);
    const again = await post<Result<JsonObject>>('/graphql', { query: bought('content') }, { headers });
    expect(again.body.data).toEqual({ createChatCompletion: { choices: [{ message: { content } }] } });
    expect(await transfersFrom(payer)).toBe(1);
  });

  it('an Idempotency-Key and an unknown API key are told to the subgraph that sells', async () => {
    const headers = { 'x-api-key': 'a-live-key', 'idempotency-key': 'one-order' };
    const buy = () => post<Chat>(CHAT, ask('Named'), { headers });
    const [first, again] = [await buy(), await buy()];
    expect([first, again].map(heard => heard.headers.get('x-svc-settlement-status'))).toEqual([
      'waived',
      'idempotent_replay',
    ]);
    expect(again.body.svc.task_id).toBe(first.body.svc.task_id);
    const query = { query: BUY, variables: { content: 'Unknown' } };
    const unknown = await post<Result<null>>('/graphql', query, { headers: { 'x-api-key': 'nobodys' } });
    expect(unknown.body.errors?.[0]?.extensions).toMatchObject({ code: 'unknown_api_key', status: 402 });
  });

  it('200 by the official client, by /graphql, joined to its receipt', async () => {
    const payer = await service.chain.newWallet();
    const query = { query: BUY, variables: { content: 'By GraphQL' } };
    const { status, headers, body } = await post<Result<Bought>>('/graphql', query, { by: payingFetch(payer) });
    expect(body.errors).toBeUndefined();
    expect(status).toBe(200);
    const bought = body.data?.createChatCompletion;
    expect(bought?.receipt.taskId).toBe(bought?.svc.task_id);
    expect(headers.get('x-svc-task-id')).toBe(bought?.svc.task_id);
    expect(headers.has('PAYMENT-RESPONSE')).toBe(true);
    expect(await transfersFrom(payer)).toBe(1);
  });

  it('a refused payment is 402 with what is wrong with it, on both roads', async () => {
    const poor = await service.chain.newWallet(1n);
    const door = await post(CHAT, ask('Poor'), { by: payingFetch(poor) });
    expect(door).toMatchObject({ status: 402, body: { error: 'insufficient_funds' } });
    const query = { query: BUY, variables: { content: 'Poor' } };
    const graph = await post<Result<null>>('/graphql', query, { by: payingFetch(poor) });
    expect(graph.status).toBe(402);
    expect(graph.headers.has('PAYMENT-REQUIRED')).toBe(true);
    expect(graph.body.errors?.[0]?.extensions).toMatchObject({ code: 'payment_rejected', charged: false });
  });

  it('a streamed chat: headers at the first byte, text, a receipt in the last chunk, [DONE]', async () => {
    const payer = await service.chain.newWallet();
    const stream = await listen(service, ask('Streamed', { stream: true }), { by: payingFetch(payer) });
    expect(stream.status).toBe(200);
    expect(stream.headers.has('PAYMENT-RESPONSE')).toBe(true);
    const { text, svc, ends_well } = await stream.rest();
    expect(text).toContain('You said: "Streamed"');
    expect(svc?.task_id).toBe(stream.headers.get('x-svc-task-id'));
    expect(ends_well).toBe(true);
    expect(await transfersFrom(payer)).toBe(1);
  });

  it('200 with a live key, plain and streamed: the subgraph hears of it from its gateway, and no payment', async () => {
    const headers = { 'x-api-key': 'a-live-key', ...possessed() };
    const plain = await post<Chat>(CHAT, ask('By key'), { headers });
    expect(plain.status).toBe(200);
    expect(plain.body.svc).toMatchObject({ waived_by: 'live_key', payment_ref: null, claim_id: agent.agent_id });
    const stream = await listen(service, ask('Streamed by key', { stream: true }), { headers });
    expect((await stream.rest()).svc).toMatchObject({ waived_by: 'live_key', claim_id: agent.agent_id });
    const { status } = await post(CHAT, ask('Unknown'), { headers: { 'x-api-key': 'nobodys' } });
    expect(status).toBe(402);
  });

  it('a reader who leaves a streamed chat: the text is brought to its end and recorded all the same', async () => {
    const payer = await service.chain.newWallet();
    const on = Promise.withResolvers<void>();
    service.hub.behave({ kind: 'answer', in_stream: { after_words: 2, does: on.promise } });
    const stream = await listen(service, ask('Left alone', { stream: true }), { by: payingFetch(payer) });
    await stream.next();
    const task_id = stream.headers.get('x-svc-task-id');
    stream.leave();
    on.resolve();
    const read = async () => (await fetch(`${service.url}/receipt/${task_id}`)).json();
    await expect.poll(read).toMatchObject({
      payload: { fulfillment: { output_commitment: { status: 'committed' } } },
    });
  });

  it('the book by REST and by GraphQL: the same rows, each joined to the receipt of another process', async () => {
    const bought = await post<Chat>(CHAT, ask('A row'), { by: payingFetch(agent.account), headers: possessed() });
    const { task_id } = bought.body.svc;
    const read = await fetch(`${service.url}/v1/agents/${agent.agent_id}/book`, { headers: possessed() });
    const rows = ((await read.json()) as { entries: JsonObject[] }).entries;
    expect(rows).toContainEqual(expect.objectContaining({ task_id }));
    const query = `query ($id: Int!) { book(agentId: $id) { entries { taskId receipt { payloadHash } } } }`;
    const graph = await post<Result<{ book: { entries: JsonObject[] } }>>(
      '/graphql',
      { query, variables: { id: agent.agent_id } },
      { headers: possessed() },
    );
    expect(graph.body.data?.book.entries).toHaveLength(rows.length);
    expect(graph.body.data?.book.entries).toContainEqual({
      taskId: task_id,
      receipt: { payloadHash: bought.body.svc.payload_hash },
    });
  });

  it('401 and 403 on a book without its session, as in one process', async () => {
    const path = `${service.url}/v1/agents/${agent.agent_id}/book`;
    expect((await fetch(path)).status).toBe(401);
    expect((await fetch(path, { headers: { 'x-svc-session': 'svcs_guessed' } })).status).toBe(403);
  });

  it('a row arrives live over graphql-ws, joined to its receipt', async () => {
    const url = `${service.url.replace('http', 'ws')}/graphql`;
    const client = createClient({ url, webSocketImpl: WebSocket, connectionParams: { session: agent.session } });
    try {
      const query = `subscription ($id: Int!, $after: Int) { bookRows(agentId: $id, after: $after) {
        position taskId row { receipt { payloadHash } } } }`;
      type Row = { bookRows: { position: number; taskId: string; row: JsonObject } };
      const events = client.iterate<Row>({ query, variables: { id: agent.agent_id, after: 0 } });
      const born = await events.next();
      expect(born.value?.data?.bookRows.position).toBe(1);
      const { body } = await post<Chat>(CHAT, ask('Live'), { by: payingFetch(agent.account), headers: possessed() });
      let live: Row['bookRows'] | undefined;
      while (live?.taskId !== body.svc.task_id) live = (await events.next()).value.data.bookRows as Row['bookRows'];
      expect(live.row).toEqual({ receipt: { payloadHash: body.svc.payload_hash } });
      await events.return?.();
    } finally {
      await client.dispose();
    }
  });
});
