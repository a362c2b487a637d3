import { beforeAll, expect, it } from 'vitest';
import { limits } from '../../schema/limits.ts';
import { payingFetch, paymentFor, type Wallet } from '../harness/buyer.ts';
import { ask, CHAT, REGISTER } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import {
  breakOnce,
  buyByEachClient,
  type MeasuredService,
  openMeasuredService,
  paidRequests,
  post,
  registerAt,
  streamAt,
} from '../harness/doors/short-heads.ts';
import type { ResponseHead } from '../harness/doors/wire.ts';

let service: MeasuredService;
beforeAll(async () => {
  service = await openMeasuredService();
});

const statuses = (heads: readonly ResponseHead[]) => heads.map(({ status }) => status);

// Must be the first test, because the first claimed call is the one that fails.
it('503 settlement_pending: short, and so is the answer to the same payment', async () => {
  expect(statuses(await breakOnce(service))).toEqual(expect.arrayContaining([402, 503, 200]));
});

it.each(paidRequests)('POST %s: 402, and 200 by each official client, by key and delivered again', (...door) =>
  buyByEachClient(service, service.url, door),
);

it(`POST ${REGISTER}: 402, and 200 by the official client`, () => registerAt(service, service.url));

it(`POST ${CHAT} with stream: true: the receipt is in its last event, what names it in its headers`, () =>
  streamAt(service, service.url));

it('refusals are short: of the request, the payment, the payer, the session and the book', async () => {
  const agent = await service.newAgent();
  const killed = await policyDoorsOf(service).newBlockedAgent();
  const url = service.url + CHAT;
  const pay = (account: Wallet) => paymentFor(account, url);
  const bought = await pay(agent.account);
  await post(url, { body: ask('Bought'), headers: bought });
  const refusals: readonly (readonly [status: number, sent: Parameters<typeof post>[1]])[] = [
    [400, { body: { messages: 'none' }, headers: await pay(agent.account) }],
    [400, { body: ask(), headers: { 'payment-signature': '???' } }],
    [402, { body: ask(), headers: await pay(await service.chain.newWallet(0n)) }],
    [403, { body: ask(), headers: { ...(await pay(agent.account)), 'x-svc-session': 'guess' } }],
    [403, { body: ask(), headers: await pay(killed.account) }],
    [409, { body: ask('Another'), headers: bought }],
    [413, { body: ask('x'.repeat(limits.request_bytes_max)), headers: await pay(agent.account) }],
  ];
  service.shortHeads();
  for (const [status, sent] of refusals) expect((await post(url, sent)).status).toBe(status);
  expect(statuses(service.shortHeads())).toEqual(refusals.map(([status]) => status));
});

it('/graphql is short: 402, and 200 by the official client', async () => {
  const url = `${service.url}/graphql`;
  const payer = await service.chain.newWallet();
  const query = 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { id } }';
  const body = { query, variables: { input: ask('By graph') } };
  expect((await post(url, { body })).status).toBe(402);
  expect((await post(url, { body, by: payingFetch(payer) })).status).toBe(200);
  expect(statuses(service.shortHeads())).toEqual([402, 402, 200]);
});
