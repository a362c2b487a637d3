import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch } from '../harness/buyer.ts';
import { ask, CHAT, REGISTER, type ReceiptBody, type Service, sharedService } from '../harness/doors/open-service.ts';

/* The receipt and its row name the URL at which a call was bought, in the form that its 402 names. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const resourceIn = ({ payload }: JsonObject) =>
  (payload as { fulfillment: { intent: JsonObject } }).fulfillment.intent.resource;

async function rowOf({ agent_id, session }: { agent_id: number; session: string }, task_id: string) {
  const { body } = await service.get<{ entries: { task_id: string; fulfillment: JsonObject }[] }>(
    `/v1/agents/${agent_id}/book`,
    { 'X-SVC-Session': session },
  );
  return body.entries.find(entry => entry.task_id === task_id)?.fulfillment.resource;
}

it('a stamp and a payment name their doors, in the receipt and on the row', async () => {
  const agent = await service.newAgent();
  const stamp = await service.get(`/receipt/${agent.task_id}`);
  expect(resourceIn(stamp.body)).toBe(service.url + REGISTER);
  expect(await rowOf(agent, agent.task_id)).toBe(service.url + REGISTER);
  const { body } = await service.buy(agent.account);
  expect(resourceIn(body.svc)).toBe(service.url + CHAT);
  expect(await rowOf(agent, body.svc.task_id)).toBe(service.url + CHAT);
});

it('the same work at another door names that door', async () => {
  const by = payingFetch(await service.chain.newWallet());
  const { body } = await service.knock<{ svc: ReceiptBody }>('POST', '/a2a-message', { body: ask(), by });
  expect(resourceIn(body.svc)).toBe(`${service.url}/a2a-message`);
});

it('a call by key names its door, too', async () => {
  const { body } = await service.post<{ svc: ReceiptBody }>(CHAT, ask(), { 'X-API-Key': 'a-live-key' });
  expect(resourceIn(body.svc)).toBe(service.url + CHAT);
});

it('by GraphQL it is /graphql', async () => {
  const query = 'mutation { createChatCompletion(input: { messages: [{ role: "user", content: "Hello" }] }) { svc } }';
  const { body } = await service.post<{ data: { createChatCompletion: { svc: ReceiptBody } } }>(
    '/graphql',
    { query },
    { 'X-API-Key': 'a-live-key' },
  );
  expect(resourceIn(body.data.createChatCompletion.svc)).toBe(`${service.url}/graphql`);
});
