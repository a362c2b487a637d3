import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { type ReceiptBody, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { openSocket } from '../harness/doors/socket.ts';

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
});

const INPUT = 'input: { messages: [{ role: "user", content: "By key" }], intentId: "bill", attemptIndex: 2 }';
const BUY = `mutation { createChatCompletion(${INPUT}) { svc receipt { taskId paymentRef amount proofOutcome settledBy } } }`;
const LISTEN = `subscription { chatCompletionStream(${INPUT}) { choices { delta { content } } svc } }`;

interface Bought {
  readonly createChatCompletion: { readonly svc: ReceiptBody; readonly receipt: JsonObject };
}
const graphql = (headers: Record<string, string>) => onGraph<Bought>(service, BUY, {}, headers);
const newestRow = async () => (await policyDoorsOf(service).bookOf(agent)).entries[0];

describe('POST /graphql, a paid mutation with a live key', () => {
  it('200: the receipt as a node says that nothing was paid', async () => {
    const { status, headers, body } = await graphql({ Authorization: 'Bearer a-live-key' });
    expect({ status, errors: body.errors }).toEqual({ status: 200 });
    const { svc, receipt } = (body.data as Bought).createChatCompletion;
    expect(svc).toMatchObject({ waived_by: 'live_key', payment_ref: null });
    const unpaid = { paymentRef: null, amount: null, settledBy: null, proofOutcome: 'none' };
    expect(receipt).toEqual({ taskId: svc.task_id, ...unpaid });
    expect(headers.get('x-svc-settlement-status')).toBe('waived');
    expect(headers.get('PAYMENT-RESPONSE')).toBeNull();
  });

  it('200 with a session: the row is UNVERIFIED, its intent as the input names it', async () => {
    const { body } = await graphql({ 'X-API-Key': 'a-live-key', 'X-SVC-Session': agent.session });
    const { svc } = (body.data as Bought).createChatCompletion;
    const intent = { intent_id: 'bill', attempt_index: 2 };
    expect(await newestRow()).toMatchObject({ task_id: svc.task_id, evidence: 'UNVERIFIED', ...intent });
  });

  it('402 with an unknown key, forbidden with a wrong session', async () => {
    expect((await graphql({ 'X-API-Key': 'nobodys' })).status).toBe(402);
    const { body } = await graphql({ 'X-API-Key': 'a-live-key', 'X-SVC-Session': 'guess' });
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'forbidden' });
  });
});

describe('a socket that showed a live key', () => {
  it.each([
    ['as api_key', { api_key: 'a-live-key' }],
    ['as a header', { headers: { 'X-API-Key': 'a-live-key' } }],
    ['as a bearer', { headers: { Authorization: 'Bearer a-live-key' } }],
  ])('is sold a paid mutation, %s', async (_, shown) => {
    const heard = await openSocket(service, shown).first(BUY);
    expect(heard.data).toMatchObject({ createChatCompletion: { svc: { waived_by: 'live_key' } } });
  });

  it('is told a paid stream to its end, which brings the receipt', async () => {
    const heard = await openSocket(service, { session: agent.session, api_key: 'a-live-key' }).all(LISTEN);
    const chunks = heard.map(({ data }) => (data as { chatCompletionStream: JsonObject }).chatCompletionStream);
    expect(chunks.length).toBeGreaterThan(3);
    const svc = chunks.at(-1)?.svc as ReceiptBody;
    expect(svc).toMatchObject({ waived_by: 'live_key', claim_id: agent.agent_id });
    expect(await newestRow()).toMatchObject({ task_id: svc.task_id, evidence: 'UNVERIFIED' });
  });

  it('and left in the midst of it: it is brought to its end and recorded all the same', async () => {
    const before = (await newestRow())?.task_id;
    const socket = openSocket(service, { session: agent.session, api_key: 'a-live-key' });
    await socket.first(LISTEN);
    await expect.poll(async () => (await newestRow())?.task_id).not.toBe(before);
    expect(await newestRow()).toMatchObject({ fulfillment: { output_commitment: { status: 'committed' } } });
    expect(await service.query('select 1 from key_call')).toEqual([]);
  });

  it.each([
    ['no key', {}],
    ['an unknown key', { api_key: 'nobodys' }],
  ])('is told where payments come from, with %s', async (_, shown) => {
    for (const query of [BUY, LISTEN])
      await expect(openSocket(service, shown).first(query)).rejects.toMatchObject([
        { extensions: { code: 'invalid_request' } },
      ]);
  });
});
