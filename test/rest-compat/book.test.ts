import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openRestFixture, type RestFixture, succeed } from '../harness/rest-compat/fake-port.ts';

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture();
});
afterAll(() => house.close());
beforeEach(() => {
  house.port.calls.length = 0;
  succeed(house.port, { answer: { agent_id: 7, entries: [] } });
});

const book = '/v1/agents/7/book';
const session = { 'x-svc-session': 'good' };

it.each([
  ['?limit=1', 1],
  ['?limit=200', 200],
  ['?limit=201', 200],
  ['?limit=999999999999', 200],
])('GET book%s reads %i rows', async (query, limit) => {
  expect((await house.get(book + query, session)).status).toBe(200);
  expect(house.port.calls).toEqual([{ operation: 'get_agent_book', variables: { agentId: 7, limit } }]);
});

it('GET book without a limit reads as many rows as the graph does without one', async () => {
  expect((await house.get(book, session)).status).toBe(200);
  expect(house.port.calls).toEqual([{ operation: 'get_agent_book', variables: { agentId: 7 } }]);
});

it.each(['0', '-1', '1.5', 'x', '', '1e2', '0x10', '1&limit=2'])('GET book?limit=%s: 400', async limit => {
  const response = await house.get(`${book}?limit=${limit}`, session);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param: 'limit' } });
});

it.each([0, -1, 1.5, '5', null])('POST book with limit %j: 400', async limit => {
  expect((await house.post(book, { limit }, session)).status).toBe(400);
});

it('POST book: the limit of the body goes before that of the query', async () => {
  await house.post(`${book}?limit=3`, { session: 'good', limit: 4 });
  expect(house.port.calls[0]?.variables).toEqual({ agentId: 7, limit: 4 });
});

it.each(['0', '2000', null])('POST book with budget %j sets it', async budget => {
  await house.post(book, { session: 'good', budget });
  const variables = { agentId: 7, budgetAtomic: budget };
  expect(house.port.calls).toEqual([{ operation: 'set_agent_budget', variables }]);
});

it('POST book without a budget reads only', async () => {
  await house.post(book, { session: 'good' });
  expect(house.port.calls[0]?.operation).toBe('get_agent_book');
});

it.each([2000, '', '-1', '1.5', '01', 'x', {}, true])('POST book with budget %j: 400', async budget => {
  const response = await house.post(book, { session: 'good', budget });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param: 'budget' } });
  expect(house.port.calls).toEqual([]);
});

it('absent facts of an entry are left out; payer_wallet, amount and cap say null', async () => {
  const entry = {
    task_id: 'task_1',
    payer_wallet: null,
    reason: null,
    payment: { ref: 'base:0x1', rail: 'usdc', amount: null },
    fulfillment: { resource: null },
  };
  succeed(house.port, { answer: { agent_id: 7, entries: [entry], cap: null, remaining: null } });
  const { reason: _, ...kept } = entry;
  expect(await (await house.get(book, session)).json()).toEqual({
    agent_id: 7,
    entries: [kept],
    cap: null,
    remaining: null,
  });
});
