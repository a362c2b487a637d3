import { beforeAll, expect, it } from 'vitest';
import { providerCogs } from '../../subgraphs/receipt/inference/provider-cogs.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import { ask, CHAT, type Chat, openService, type Service } from '../harness/doors/open-service.ts';
import { startTestHub } from '../harness/hub.ts';

/* The receipt states the cost of its work in atomic USDC as integers, if HUBS has prices for the model. */

const token_prices = { 'priced-1': { input: 1_000_000, output: 3_000_000 } };

let service: Service;
beforeAll(async () => {
  const hub = await startTestHub({ name: 'priced', models: ['priced-1', 'bare-1'] });
  const priced = { ...hub.config, prices: { 'priced-1': 900 }, token_prices };
  service = await openService({ HUBS: JSON.stringify([priced]), API_KEYS: 'a-live-key' });
});

const key = { 'X-API-Key': 'a-live-key' };
const buy = (model: string) => service.post<Chat>(CHAT, ask('Hello', { model }), key);

it('says what the tokens have cost, and the mark of a call; it verifies', async () => {
  const { body } = await buy('priced-1');
  const { prompt_tokens = 0, completion_tokens = 0 } = body.usage ?? {};
  expect(prompt_tokens + completion_tokens).toBeGreaterThan(0);
  const actual = prompt_tokens + 3 * completion_tokens;
  expect(body.svc.payload).toMatchObject({ provider_cogs: { actual, usd_mark: 900 } });
  const { body: jwks } = await service.get('/.well-known/jwks.json');
  expect(verifyReceipt(body.svc, jwks)).toMatchObject({ kind: 'valid' });
});

it('says the same of a stream', async () => {
  const heard = await listen(service, { ...askToStream('Streamed'), model: 'priced-1' }, { headers: key });
  const { svc } = await heard.rest();
  expect(svc?.payload).toMatchObject({ provider_cogs: { actual: expect.any(Number), usd_mark: 900 } });
});

it('leaves the member out where no price is known', async () => {
  expect((await buy('bare-1')).body.svc.payload).not.toHaveProperty('provider_cogs');
});

it.each([
  [{ prices: { m: 700 } }, null, { actual: 700, usd_mark: 700 }],
  [{ token_prices: { m: { input: 1, output: 1 } } }, [1, 1], { actual: 1, usd_mark: 1 }],
  [{ token_prices: { m: { input: 1, output: 1 } } }, null, null],
  [{ token_prices: { m: { input: 500_000, output: 0 } }, prices: { m: 9 } }, [3, 7], { actual: 2, usd_mark: 9 }],
  [{}, [1, 1], null],
] as const)('by %j, of tokens %j: %j', (priced, tokens, cogs) => {
  const hub = { name: 'h', base_url: 'http://h', api_key: 'k', models: ['m'], ...priced };
  const usage = tokens && { prompt_tokens: tokens[0], completion_tokens: tokens[1], total_tokens: 0 };
  expect(providerCogs([hub], { hub: 'h', model: 'm' }, usage)).toEqual(cogs);
});
