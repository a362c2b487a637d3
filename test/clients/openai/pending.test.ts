import { x402Client } from '@x402/core/client';
import { decodePaymentResponseHeader } from '@x402/core/http';
import type { PaymentRequired } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client';
import OpenAI from 'openai';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Buyer, PaymentPending, payingFetch } from '../../../rest-compat/client/paying-fetch.ts';
import { type Fetch, payingFetch as officialFetch, type Wallet } from '../../harness/buyer.ts';
import { eventually } from '../../harness/faults/ground.ts';
import { openLyingChainService } from '../../harness/faults/lying-chain-service.ts';
import { recordFetch } from '../../harness/openai/record-fetch.ts';

/*
 * The official OpenAI client, with its retries, on a chain that goes silent once the payment was sent to it: by x402's own
 * fetch, which signs a payment for each try, and by ours, which keeps the one that it has signed.
 */

let doubtful: Awaited<ReturnType<typeof openLyingChainService>>;
beforeAll(async () => {
  doubtful = await openLyingChainService();
});
afterEach(() => {
  doubtful.node.tellTruth();
  doubtful.ground.hub.behave({ kind: 'answer' });
});

const CHAT = '/v1/chat/completions';
const silentAfterBroadcast = () =>
  doubtful.node.after('eth_sendRawTransaction', () => doubtful.node.behave({ kind: 'cut' }));

const clients = {
  1: (account: Wallet) => new x402Client().registerV1('base', new ExactEvmSchemeV1(account)),
  2: (account: Wallet) => new x402Client().register('eip155:*', new ExactEvmScheme(account)),
} as const;

/** A wallet with money, and what its payments come to. */
async function wallet() {
  const account = await doubtful.ground.chain.newWallet();
  const transfers = async () =>
    (await doubtful.ground.chain.transfers(doubtful.ground.pay_to)).filter(
      ({ from }) => from === account.address.toLowerCase(),
    );
  return { account, transfers };
}

async function keeper(version: 1 | 2 = 2, more: Partial<Buyer> = {}) {
  const { account, transfers } = await wallet();
  const client = clients[version](account);
  let signed = 0;
  const payments = {
    createPaymentPayload(required: PaymentRequired) {
      if (required.x402Version === version) signed++;
      return client.createPaymentPayload(required);
    },
  };
  return { account, transfers, payments, signed: () => signed, fetch: payingFetch({ payments, ...more }) };
}

const openai = (by: Fetch, more: object = {}) =>
  new OpenAI({ baseURL: `${doubtful.gateway.url}/v1`, apiKey: 'none', fetch: by, ...more });
const chatParams = (content: string) => ({ model: 'test/model', messages: [{ role: 'user' as const, content }] });

describe('x402’s own fetch, which signs a payment for each try of the client above it', () => {
  it.each([1, 2] as const)('v%s: 503 settlement_pending is not retried; charged once', async version => {
    const { account, transfers } = await wallet();
    const { payments, answers, fetch: watching } = recordFetch();
    silentAfterBroadcast();
    const call = openai(officialFetch(account, version, watching)).chat.completions.create(
      chatParams(`stock ${version}`),
    );
    await expect(call).rejects.toMatchObject({
      status: 503,
      code: 'settlement_pending',
      message: expect.stringContaining('Send the same payment again'),
    });
    expect(payments.size).toBe(1);
    const headers = answers[0]?.headers ?? new Headers();
    expect([headers.get('x-should-retry'), headers.get('Retry-After')]).toEqual([
      'false',
      expect.stringMatching(/^\d+$/),
    ]);
    const outcome = headers.get(version === 1 ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE') ?? '';
    const [transfer] = await transfers();
    expect(decodePaymentResponseHeader(outcome)).toEqual({
      success: false,
      errorReason: 'settlement_pending',
      transaction: transfer?.tx_hash,
      network: version === 1 ? 'base' : 'eip155:8453',
      payer: account.address,
    });
    doubtful.node.tellTruth();
    const [payment = ''] = payments;
    const again = () => shown(`stock ${version}`, version, payment);
    await eventually('the answer', async () => (await again()).ok || null);
    expect(await transfers()).toHaveLength(1);
  });

  it('502 hub_failed, of which nothing was charged, is: another payment pays for what is answered then', async () => {
    const { account, transfers } = await wallet();
    const { payments, fetch: watching } = recordFetch();
    failOnce();
    const completion = await openai(officialFetch(account, 2, watching)).chat.completions.create(
      chatParams('fails once'),
    );
    expect(completion.choices[0]?.message.content).toContain('fails once');
    expect(payments.size).toBe(2);
    expect(await transfers()).toHaveLength(1);
  });
});

function shown(content: string, version: 1 | 2, payment: string): Promise<Response> {
  const name = version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE';
  const headers = { 'content-type': 'application/json', [name]: payment };
  return fetch(doubtful.gateway.url + CHAT, { method: 'POST', headers, body: JSON.stringify(chatParams(content)) });
}

function failOnce(): void {
  let failed = false;
  doubtful.ground.hub.behave(() => {
    const first = !failed;
    failed = true;
    return first ? { kind: 'status', status: 500 } : { kind: 'answer' };
  });
}

describe('our fetch, which keeps the payment until its outcome is known', () => {
  it.each([1, 2] as const)('v%s: answered once the chain speaks again; one signature, one charge', async version => {
    const told = recordFetch();
    const { fetch: by, signed, transfers } = await keeper(version, { fetch: told.fetch });
    silentAfterBroadcast();
    const call = openai(by).chat.completions.create(chatParams(`kept ${version}`));
    await eventually('told to wait', () => told.answers.length > 0 || null);
    doubtful.node.tellTruth();
    expect((await call).choices[0]?.message.content).toContain(`kept ${version}`);
    expect([signed(), (await transfers()).length]).toEqual([1, 1]);
  });

  it('streamed: the same', async () => {
    const told = recordFetch();
    const { fetch: by, signed, transfers } = await keeper(2, { fetch: told.fetch });
    silentAfterBroadcast();
    const call = openai(by).chat.completions.create({ ...chatParams('kept, streamed'), stream: true });
    await eventually('told to wait', () => told.answers.length > 0 || null);
    doubtful.node.tellTruth();
    let text = '';
    for await (const chunk of await call) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toContain('kept, streamed');
    expect([signed(), (await transfers()).length]).toEqual([1, 1]);
  });

  it('on /graphql, where a refusal is a 200: the same', async () => {
    const graphql = recordFetch();
    const { fetch: by, signed, transfers } = await keeper(2, { fetch: graphql.fetch });
    const query = `mutation { createChatCompletion(input: { model: "test/model",
      messages: [{ role: "user", content: "kept on graphql" }] }) { choices { message { content } } } }`;
    silentAfterBroadcast();
    const headers = { 'content-type': 'application/json' };
    const call = by(`${doubtful.gateway.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
    await eventually('told to wait', () => graphql.answers.length > 0 || null);
    const pending = graphql.answers[0] ?? Response.error();
    expect(pending.status).toBe(200);
    expect([pending.headers.get('x-should-retry'), pending.headers.get('Retry-After')]).toEqual(['false', '2']);
    expect(decodePaymentResponseHeader(pending.headers.get('PAYMENT-RESPONSE') ?? '')).toMatchObject({
      success: false,
      errorReason: 'settlement_pending',
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    doubtful.node.tellTruth();
    expect(await (await call).text()).toContain('kept on graphql');
    expect([signed(), (await transfers()).length]).toEqual([1, 1]);
  });
  it('a client that gives up and tries again, three times: the same payment', async () => {
    const { fetch: by, signed, transfers } = await keeper();
    doubtful.ground.hub.behave({ kind: 'answer', delay_ms: 5_000 });
    const call = openai(by, { timeout: 2_000, maxRetries: 8 }).chat.completions.create(chatParams('slow'));
    expect((await call).choices[0]?.message.content).toContain('slow');
    expect([signed(), (await transfers()).length]).toEqual([1, 1]);
  });

  it('a hub that fails once: the client’s next try brings the same payment', async () => {
    const { fetch: by, signed, transfers } = await keeper();
    failOnce();
    await openai(by).chat.completions.create(chatParams('fails once, kept'));
    expect([signed(), (await transfers()).length]).toEqual([1, 1]);
  });

  it('answers that are lost, before their head and in their midst: bought once', async () => {
    let lost = 0;
    const losing = recordFetch(async input => {
      const answer = await fetch(input);
      if (!(input as Request).headers.has('PAYMENT-SIGNATURE') || lost++ > 1) return answer;
      await answer.body?.cancel();
      if (lost === 1) throw new TypeError('fetch failed');
      return new Response(new ReadableStream({ pull: stream => stream.error(new TypeError('terminated')) }), answer);
    });
    const { fetch: by, signed, transfers } = await keeper(2, { fetch: losing.fetch });
    await expect(openai(by).chat.completions.create(chatParams('lost'))).rejects.toThrow();
    const completion = await openai(by).chat.completions.create(chatParams('lost'));
    expect(completion.choices[0]?.message.content).toContain('lost');
    expect([signed(), losing.payments.size, (await transfers()).length]).toEqual([1, 1, 1]);
  });

  it('a stream that ends in settlement_pending: bought once, and the next try has all of it', async () => {
    let broken = 0;
    const breaking: Fetch = async input => {
      const answer = await fetch(input);
      if (!answer.ok || broken++ > 0) return answer;
      await answer.body?.cancel();
      return new Response(
        'data: {"error":{"message":"","type":"","code":"settlement_pending","param":null}}\n\n',
        answer,
      );
    };
    const { fetch: by, signed, transfers } = await keeper(2, { fetch: breaking });
    const streamed = async () => {
      let text = '';
      const stream = await openai(by).chat.completions.create({ ...chatParams('broken off'), stream: true });
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      return text;
    };
    await expect(streamed()).rejects.toMatchObject({ code: 'settlement_pending' });
    expect(await streamed()).toContain('broken off');
    expect([signed(), (await transfers()).length]).toEqual([1, 1]);
  });

  it('two equal calls at once are two purchases, one after the other; equal calls later are new ones', async () => {
    const { fetch: by, signed, transfers } = await keeper();
    const call = () => openai(by).chat.completions.create(chatParams('twice'));
    await Promise.all([call(), call()]);
    await call();
    expect([signed(), (await transfers()).length]).toEqual([3, 3]);
  });

  it('when patience ends: PaymentPending with the payment, and another fetch that is given it has the answer', async () => {
    const { fetch: by, payments, signed, transfers } = await keeper(2, { patience_ms_max: 2_500 });
    silentAfterBroadcast();
    const fault = await openai(by, { maxRetries: 1 })
      .chat.completions.create(chatParams('out of patience'))
      .catch((thrown: Error) => thrown.cause);
    expect(fault).toBeInstanceOf(PaymentPending);
    const { name, payment, problem } = fault as PaymentPending;
    expect([name, problem?.code]).toEqual(['PaymentPending', 'settlement_pending']);
    expect(payment.valid_before).toBeGreaterThan(Date.now() / 1_000);
    doubtful.node.tellTruth();
    const later = payingFetch({ payments, kept: [JSON.parse(JSON.stringify(payment))], patience_ms_max: 30_000 });
    const completion = await openai(later, { maxRetries: 5 }).chat.completions.create(chatParams('out of patience'));
    expect(completion.choices[0]?.message.content).toContain('out of patience');
    expect([signed(), (await transfers()).length]).toEqual([1, 1]);
  });
});
