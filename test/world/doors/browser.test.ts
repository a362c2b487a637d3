import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { generatePrivateKey } from 'viem/accounts';
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../schema/limits.ts';
import { openPage } from '../../harness/doors/browser/open-browser.ts';
import { ask, CHAT, type Chat, PRICE, type Service, sharedService } from '../../harness/doors/open-service.ts';

let service: Service;
let page: Awaited<ReturnType<typeof openPage>>;
beforeAll(async () => {
  [service, page] = await Promise.all([sharedService(), openPage()]);
});

const json = { 'content-type': 'application/json' };
const post = (body: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { ...json, ...headers },
  body: JSON.stringify(body),
});

/** A wallet with money, and its key, which the test gives to a page. */
async function wallet() {
  const account = await service.chain.newWallet();
  return { account, key: account.private_key };
}

describe('a page of another origin, in Chromium', () => {
  it('is of another origin', () => {
    expect(new URL(service.url).origin).not.toBe(page.origin);
  });

  it('pays for a chat by the official client, and reads how it settled and where its receipt is', async () => {
    const { account, key } = await wallet();
    const { status, headers, text } = await page.buy(key, service.url + CHAT, post(ask()));
    expect(status).toBe(200);
    const { choices, svc } = JSON.parse(text) as Chat;
    expect(choices[0]?.message.content).toContain('What is a spend receipt?');
    const settled = decodePaymentResponseHeader(headers['payment-response'] ?? '');
    expect(settled).toMatchObject({ success: true, payer: account.address });
    expect(svc.payment_ref).toBe(`base:${settled.transaction}`);
    expect(headers).toMatchObject({
      'x-svc-task-id': svc.task_id,
      'x-svc-verify-url': svc.verify_url,
      'x-svc-payload-hash': svc.payload_hash,
      'x-svc-settlement-status': 'settled',
      'x-request-id': expect.any(String),
    });
    expect(await service.transfersFrom(account)).toMatchObject([{ amount_atomic: PRICE }]);
    const receipt = await page.knock(svc.verify_url, {});
    expect(JSON.parse(receipt.text)).toMatchObject({ payload_hash: svc.payload_hash });
  });

  it('reads the offer of a 402, and why a payment was refused', async () => {
    const offered = await page.knock(service.url + CHAT, post(ask()));
    expect(offered.status).toBe(402);
    const { accepts } = decodePaymentRequiredHeader(offered.headers['payment-required'] ?? '');
    expect(accepts[0]).toMatchObject({ amount: String(PRICE) });
    // This wallet has no money.
    const { status, text } = await page.buy(generatePrivateKey(), service.url + CHAT, post(ask()));
    expect([status, JSON.parse(text)]).toMatchObject([402, { error: expect.stringContaining('insufficient') }]);
  });

  it.each<[number, string, string, RequestInit]>([
    [400, 'invalid_request', '/task-status', {}],
    [404, 'not_found', '/no/path/of/ours', { headers: { 'x-svc-session': 'any' } }],
    [404, 'not_found', `/receipt/${'a'.repeat(300)}`, {}],
    [405, 'method_not_allowed', '/v1/models', { method: 'POST' }],
  ])('reads a refusal: %i %s at %s', async (status, code, path, init) => {
    const heard = await page.knock(service.url + path, init);
    expect([heard.status, JSON.parse(heard.text)]).toMatchObject([status, { code }]);
  });

  it('reads that what it has paid for is too large, and keeps its money', async () => {
    const { account, key } = await wallet();
    const { status, text } = await page.buy(key, service.url + CHAT, post('x'.repeat(limits.request_bytes_max)));
    expect([status, JSON.parse(text)]).toMatchObject([413, { code: 'request_too_large' }]);
    expect(await service.transfersFrom(account)).toEqual([]);
  });

  it.each([
    [401, {}],
    [403, { 'x-svc-session': 'svcs_of_nobody' }],
  ])('reads that a book is shut to it: %i, and no more', async (status, headers) => {
    const heard = await page.knock(`${service.url}/v1/agents/1/book`, { headers: headers as Record<string, string> });
    expect([heard.status, heard.text]).toEqual([status, '']);
  });

  it('reads how often it may still ask', async () => {
    const { headers } = await page.knock(`${service.url}/v1/models`, {});
    expect(headers).toMatchObject({ ratelimit: expect.any(String), etag: expect.stringMatching(/^W\//) });
  });

  it('asks /graphql, and is answered there what is wrong with it', async () => {
    const heard = await page.knock(`${service.url}/graphql`, post({ query: '{ models { id } }' }));
    expect(heard.status).toBe(200);
    expect(JSON.parse(heard.text).data.models[0]).toEqual({ id: 'svc/auto' });
    const wrong = await page.knock(`${service.url}/graphql`, post({ query: '{ nothing }' }));
    expect([wrong.status, JSON.parse(wrong.text).errors.length]).toEqual([400, 1]);
    // Apollo refuses requests that a page can send without a preflight.
    const simple = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{"query":"{ models { id } }"}' };
    expect((await page.knock(`${service.url}/graphql`, simple)).status).toBe(400);
  });

  it('hears of a row of its book as it buys one, over graphql-ws', async () => {
    const { account, agent_id, session } = await service.newAgent();
    const query = `subscription { bookRows(agentId: ${agent_id}, after: 1) { position row { taskId } } }`;
    const heard = page.hear(`${service.url.replace('http', 'ws')}/graphql`, { session }, query);
    const bought = await page.buy(
      account.private_key,
      service.url + CHAT,
      post(ask('Hello'), { 'X-SVC-Session': session }),
    );
    const { svc } = JSON.parse(bought.text) as Chat;
    expect(await heard).toMatchObject({ data: { bookRows: { row: { taskId: svc.task_id } } } });
  });
});
