import OpenAI, { APIError } from 'openai';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type HubHabit, refusals } from '../../gateway/development/hub/habits.ts';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';
import { type HubServer, openHubServer } from '../harness/receipt/inference/hub-server.ts';
import { atEnd } from '../harness/release.ts';

/*
 * A hub's verdict on a request is passed on with its status and text, without a charge, and no other hub is called. What the hub says about
 * our account is not passed on.
 */

const KEY = 'sk-one-4f1b7c9d02aa';
let service: Service;
let hubs: readonly [HubServer, HubServer];
/** Answer of each hub. The second one would also answer if it were called. */
let habits: readonly [HubHabit, HubHabit];

beforeAll(async () => {
  const serving = (index: 0 | 1) =>
    openHubServer(response => {
      const { status, headers, body } = habits[index];
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    });
  hubs = [await serving(0), await serving(1)];
  for (const hub of hubs) atEnd(() => hub[Symbol.asyncDispose]());
  const settings = hubs.map(({ base_url }, index) => ({
    name: `hub-${index}`,
    base_url,
    api_key: KEY,
    models: ['some/model'],
  }));
  service = await openService({ HUBS: JSON.stringify(settings), RATE_UNCHARGED: '20/600' });
});
beforeEach(() => {
  for (const hub of hubs) hub.received.length = 0;
});

const both = (habit: HubHabit) => {
  habits = [habit, habit];
};
const hubCalls = () => hubs.reduce((sum, hub) => sum + hub.received.length, 0);
const REQUEST = ask('Hello', { model: 'some/model' });
const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
const answering: HubHabit = {
  source: 'an answer as hubs give it',
  status: 200,
  body: JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'some/model', choices: [choice] }),
};

interface RefusalBody {
  readonly code: string;
  readonly charged: boolean;
  readonly error: {
    readonly code: string;
    readonly type: string;
    readonly param: string | null;
    readonly message: string;
  };
}

const rejected = [
  ['dev/context-too-long', 400, 'hub_rejected_request', { code: 'context_length_exceeded', param: 'messages' }],
  ['dev/refuses-max-tokens', 400, 'hub_rejected_request', { code: 'unsupported_parameter', param: 'max_tokens' }],
  ['dev/context-too-long-flat', 400, 'hub_rejected_request', { code: 'hub_rejected_request' }],
  ['dev/content-filtered', 400, 'hub_rejected_request', { code: 'content_filter', param: 'prompt' }],
  ['dev/flagged', 403, 'hub_rejected_content', { code: 'hub_rejected_content', message: 'The input was flagged' }],
] as const;

describe.each([
  ['whole', REQUEST],
  ['as a stream', ask('Hello', { model: 'some/model', stream: true })],
] as const)('POST /v1/chat/completions, %s', (_, request) => {
  it.each(rejected)(
    '%s: %i %s with the hub’s own words, not charged, and no other hub is asked',
    async (name, status, code, error) => {
      both(refusals[name]);
      const payer = await service.chain.newWallet();
      const payment = await service.payment(payer, CHAT);
      const refused = await service.post<RefusalBody>(CHAT, request, payment);
      expect(refused).toMatchObject({ status, body: { code, charged: false, error } });
      expect(refused.headers.get('x-should-retry')).toBe('false');
      expect(refused.headers.get('retry-after')).toBeNull();
      expect([hubCalls(), await service.transfersFrom(payer)]).toEqual([1, []]);
      expect(await service.claimsOf(payer)).toEqual([{ state: 'released', reason: code }]);
    },
  );

  it.each([
    ['dev/rate-limited', 429, 'hub_rate_limited', '7'],
    ['dev/overloaded', 503, 'hub_overloaded', '20'],
  ] as const)(
    '%s at every hub: %i %s after each was asked, with their Retry-After, not charged',
    async (name, status, code, wait) => {
      both(refusals[name]);
      const payer = await service.chain.newWallet();
      const refused = await service.post<RefusalBody>(CHAT, request, await service.payment(payer, CHAT));
      expect(refused).toMatchObject({ status, body: { code, charged: false } });
      expect(refused.headers.get('retry-after')).toBe(wait);
      expect(refused.headers.get('x-should-retry')).toBeNull();
      expect([hubCalls(), await service.transfersFrom(payer)]).toEqual([2, []]);
      expect(refused.text).not.toContain('org-');
    },
  );

  it('the shortest Retry-After of those that named one; 429 before 503', async () => {
    habits = [refusals['dev/rate-limited'], { ...refusals['dev/overloaded'], headers: { 'retry-after': '3' } }];
    const payer = await service.chain.newWallet();
    const refused = await service.post<RefusalBody>(CHAT, request, await service.payment(payer, CHAT));
    expect(refused).toMatchObject({ status: 429, body: { code: 'hub_rate_limited' } });
    expect(refused.headers.get('retry-after')).toBe('3');
  });

  it('no Retry-After where no hub named a time', async () => {
    both({ ...refusals['dev/overloaded'], headers: {} });
    const payer = await service.chain.newWallet();
    const refused = await service.post<RefusalBody>(CHAT, request, await service.payment(payer, CHAT));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, null]);
  });

  it('502 where our account is out of credit: that is not the caller’s affair, and every hub is asked', async () => {
    both(refusals['dev/out-of-credit']);
    const payer = await service.chain.newWallet();
    const refused = await service.post<RefusalBody>(CHAT, request, await service.payment(payer, CHAT));
    expect(refused).toMatchObject({ status: 502, body: { code: 'hub_failed', charged: false } });
    expect([hubCalls(), refused.text.includes('quota')]).toEqual([2, false]);
  });
});

describe('a request that hubs refuse', () => {
  it('409 payment_lapsed after five of them with one payment, uncharged', async () => {
    both(refusals['dev/context-too-long']);
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const heard = [];
    for (let times = 0; times < 6; times++)
      heard.push((await service.post<RefusalBody>(CHAT, REQUEST, payment)).body.code);
    expect(heard).toEqual([...Array(5).fill('hub_rejected_request'), 'payment_lapsed']);
    expect([hubCalls(), await service.transfersFrom(payer)]).toEqual([5, []]);
  });

  it('429 rate_limited for a payer who goes on with payments that are each new (RATE_UNCHARGED); others are served', async () => {
    both(refusals['dev/context-too-long']);
    const payer = await service.chain.newWallet();
    const heard: string[] = [];
    while (heard.length < 25 && heard.at(-1) !== 'rate_limited')
      heard.push((await service.post<RefusalBody>(CHAT, REQUEST, await service.payment(payer, CHAT))).body.code);
    expect([heard.length, heard.at(-1)]).toEqual([21, 'rate_limited']);
    const other = await service.chain.newWallet();
    const answered = await service.post<RefusalBody>(CHAT, REQUEST, await service.payment(other, CHAT));
    expect(answered.body.code).toBe('hub_rejected_request');
  });

  it('of a payment that was charged without an answer: the hub’s words, charged, and no advice to send it again', async () => {
    both(answering);
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const bought = await service.post<{ svc: { task_id: string; verify_url: string } }>(CHAT, REQUEST, payment);
    const { task_id, verify_url } = bought.body.svc;
    await service.query('update payment_claim set answer_box = null where task_id = $1', [task_id]);
    both(refusals['dev/context-too-long']);
    const before = hubCalls();
    const refused = await service.post<RefusalBody>(CHAT, REQUEST, payment);
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'hub_rejected_request', charged: true, task_id, verify_url },
    });
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(refused.body.error.message).toContain('4097 tokens');
    expect(refused.body.error.message).toContain('The same request will be refused again');
    expect(refused.body.error.message).not.toContain('Send the same payment again');

    const codes = [refused.body.code];
    while (codes.length < 25 && codes.at(-1) !== 'rate_limited')
      codes.push((await service.post<RefusalBody>(CHAT, REQUEST, payment)).body.code);
    expect([codes.length, codes.at(-1), hubCalls() - before]).toEqual([21, 'rate_limited', 20]);
    const resting = await service.post<RefusalBody>(CHAT, REQUEST, payment);
    expect(resting).toMatchObject({ status: 429, body: { charged: true, task_id } });
    expect(Number(resting.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await service.transfersFrom(payer)).toHaveLength(1);

    const other = await service.chain.newWallet();
    both(answering);
    expect((await service.post(CHAT, REQUEST, await service.payment(other, CHAT))).status).toBe(200);
  });

  it('createChatCompletion: the same code, words and status in the extensions', async () => {
    both(refusals['dev/context-too-long']);
    const query = 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { model } }';
    const payment = await service.payment(await service.chain.newWallet(), CHAT);
    const { body } = await service.post<{ errors: object[] }>(
      '/graphql',
      { query, variables: { input: REQUEST } },
      payment,
    );
    expect(body.errors).toMatchObject([
      {
        message: expect.stringContaining('4097 tokens'),
        extensions: {
          code: 'hub_rejected_request',
          status: 400,
          charged: false,
          hub_error: { code: 'context_length_exceeded', type: 'invalid_request_error', param: 'messages' },
        },
      },
    ]);
  });

  it('openai: throws what it throws against the hub itself, and does not retry', async () => {
    both(refusals['dev/context-too-long']);
    const thrown = async (client: OpenAI) => {
      const error = await client.chat.completions
        .create({ model: 'some/model', messages: [{ role: 'user', content: 'Hi' }] })
        .then(
          () => null,
          (fault: APIError) => fault,
        );
      return {
        of: error?.constructor.name,
        status: error?.status,
        code: error?.code,
        param: error?.param,
        type: error?.type,
      };
    };
    const straight = await thrown(new OpenAI({ apiKey: 'k', baseURL: hubs[0].base_url }));
    const payment = await service.payment(await service.chain.newWallet(), CHAT);
    const before = hubCalls();
    const through = await thrown(
      new OpenAI({ apiKey: 'k', baseURL: `${service.url}/v1`, defaultHeaders: { ...payment, Authorization: null } }),
    );
    expect(through).toEqual(straight);
    expect(hubCalls()).toBe(before + 1);
  });
});
