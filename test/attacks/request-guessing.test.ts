import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { Agent, fetch as undiciFetch } from 'undici';
import { beforeAll, describe, expect, it } from 'vitest';
import { payingFetch } from '../../rest-compat/client/paying-fetch.ts';
import { limits } from '../../schema/limits.ts';
import { redeliveryText } from '../../schema/redeliver-header.ts';
import { type Fetch, nowSeconds } from '../harness/buyer.ts';
import { makePayment, submitElsewhere } from '../harness/doors/make-payment.ts';
import { ask, CHAT, type Chat, openService, type Service } from '../harness/doors/open-service.ts';
import { identifiedPayment, newIdentifier } from '../harness/doors/payment-identifiers.ts';
import { movableClock } from '../harness/movable-clock.ts';
import { atEnd } from '../harness/release.ts';

/* A client that rebuilds a payment from the chain's calldata must not be able to guess the payer's request. */

const clock = movableClock();
let service: Service;
beforeAll(async () => {
  service = await openService({}, { clock });
});

/** A fetch from another address than the payer's, which is 127.0.0.1. */
function from(localAddress: string): Fetch {
  const dispatcher = new Agent({ localAddress });
  atEnd(() => dispatcher.close());
  return ((url: string, init: object) => undiciFetch(url, { ...init, dispatcher } as never)) as unknown as Fetch;
}

type Payer = Awaited<ReturnType<Service['chain']['newWallet']>>;
const SECRET = 'The prompt that only its payer knows';
const GUESSES = 5;

/** A settled purchase, with the headers that anyone could rebuild from its calldata. */
async function bought(payer?: Payer) {
  const account = payer ?? (await service.chain.newWallet());
  const { headers, message } = await makePayment(service, account);
  const body = ask(SECRET);
  expect((await service.post(CHAT, body, headers)).status).toBe(200);
  const show = (content: string, by: Fetch = fetch, more: Record<string, string> = {}) =>
    service.knock<Chat>('POST', CHAT, { body: ask(content), headers: { ...headers, ...more }, by });
  return { account, headers, message, show };
}

/** Uses up that address's guesses, after which it gets no answer about the payment. */
async function guessed(
  show: (content: string, by: Fetch) => Promise<unknown>,
  by: Fetch,
  code = 'claim_already_settled',
): Promise<void> {
  for (let guess = 0; guess < GUESSES; guess++)
    expect(await show(`Guess ${guess}`, by)).toMatchObject({ status: 409, body: { code } });
}

/** The parts of the text by which a payer proves to this service that the payment is its own. */
const here = (payment_id: string) => ({ base_url: service.url, network: 'base', payment_id }) as const;

const wanting = { status: 409, body: { code: 'payer_proof_required' } };

describe('a payment that was shown with five other requests from one address', () => {
  it('tells that address nothing more, right or wrong, and writes nothing more; its payer’s address everything', async () => {
    const { show, message } = await bought();
    const stranger = from('127.0.0.2');
    await guessed(show, stranger);
    const count = async () =>
      (await service.query('select mismatches from payment_claim where payment_id = $1', [message.nonce]))[0];
    const counted = await count();
    expect(counted).toMatchObject({ mismatches: { total: GUESSES } });
    for (const content of [SECRET, 'Guess 6', SECRET]) expect(await show(content, stranger)).toMatchObject(wanting);
    expect(await count()).toEqual(counted);
    expect(JSON.stringify(counted)).not.toContain('127.0.0');
    const again = await show(SECRET);
    expect([again.status, again.headers.get('x-svc-settlement-status')]).toEqual([200, 'idempotent_replay']);
    expect((await show(SECRET, from('127.0.0.3'))).status).toBe(200);
  });

  it('tells no more to who sends sixty of them at once', async () => {
    for (const at of [0, 30, 59]) {
      const { show } = await bought();
      const stranger = from('127.0.0.2');
      const contents = Array.from({ length: 60 }, (_, index) => (index === at ? SECRET : `Guess ${index}`));
      const heard = await Promise.all(contents.map(content => show(content, stranger)));
      const codes = heard.map(({ body }) => (body as { code?: string }).code);
      expect(codes.filter((code, index) => index !== at && code === 'claim_already_settled')).toHaveLength(GUESSES);
      expect(codes.filter(code => code === 'payer_proof_required').length).toBeGreaterThanOrEqual(60 - GUESSES - 1);
      expect(await show(SECRET, stranger)).toMatchObject(wanting);
    }
  });

  it('never locks the address that paid, however often it is wrong', async () => {
    const { show } = await bought();
    await guessed(show, fetch);
    await guessed(show, fetch);
    expect((await show(SECRET)).status).toBe(200);
  });

  it('answers the payer’s session, and another’s not', async () => {
    const { account, session } = await service.newAgent();
    const other = await service.newAgent();
    const { show } = await bought(account);
    const elsewhere = from('127.0.0.2');
    await guessed(show, elsewhere);
    expect(await show(SECRET, elsewhere, { 'X-SVC-Session': other.session })).toMatchObject(wanting);
    expect((await show(SECRET, elsewhere, { 'X-SVC-Session': session })).status).toBe(200);
  });

  it('answers who knows the buyer’s payment-identifier', async () => {
    const account = await service.chain.newWallet();
    const { headers } = await identifiedPayment(service, account, newIdentifier());
    expect((await service.post(CHAT, ask(SECRET), headers)).status).toBe(200);
    const elsewhere = from('127.0.0.2');
    const unnamed = { 'PAYMENT-SIGNATURE': withoutExtensions(headers['PAYMENT-SIGNATURE'] ?? '') };
    const show = (content: string, by: Fetch, shown: Record<string, string> = unnamed) =>
      service.knock<Chat>('POST', CHAT, { body: ask(content), headers: shown, by });
    await guessed(show, elsewhere);
    expect(await show(SECRET, elsewhere)).toMatchObject(wanting);
    expect((await show(SECRET, elsewhere, { ...headers })).status).toBe(200);
  });

  it('answers a fresh signature of its payer: of the text that the 409 names, within five minutes', async () => {
    const { account, show, message } = await bought();
    const elsewhere = from('127.0.0.2');
    await guessed(show, elsewhere);
    const text = (at_seconds: number) => redeliveryText({ ...here(message.nonce), at_seconds });
    const signed = async (by: Payer, at = nowSeconds()) => ({
      'X-SVC-Redeliver': `${at}:${await by.signMessage({ message: text(at) })}`,
    });
    const wanted = await show(SECRET, elsewhere);
    expect(wanted.body).toMatchObject({
      payer_proof: { header: 'X-SVC-Redeliver', text: expect.stringContaining(message.nonce) },
    });
    expect(await show(SECRET, elsewhere, await signed(await service.chain.newWallet()))).toMatchObject(wanting);
    expect(await show(SECRET, elsewhere, await signed(account, nowSeconds() - 301))).toMatchObject(wanting);
    expect(await show(SECRET, elsewhere, { 'X-SVC-Redeliver': 'nonsense' })).toMatchObject(wanting);
    expect((await show(SECRET, elsewhere, await signed(account))).status).toBe(200);
    const wrong = await show('Mine, and mistaken', elsewhere, await signed(account));
    expect(wrong).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
  });
});

describe('what a payer has bought under a name that is easily guessed', () => {
  const named_one = { 'Idempotency-Key': '1' };

  async function boughtTwo() {
    const account = await service.chain.newWallet();
    const first = await makePayment(service, account);
    expect((await service.post(CHAT, ask(SECRET), { ...first.headers, ...named_one })).status).toBe(200);
    return { account, headers: first.headers };
  }

  it('is neither told nor delivered to who shows another payment of his that has bought', async () => {
    const { account, headers } = await boughtTwo();
    const other = await makePayment(service, account);
    expect((await service.post(CHAT, ask('Another'), other.headers)).status).toBe(200);
    const show = (content: string, by: Fetch, shown = other.headers) =>
      service.knock<Chat>('POST', CHAT, { body: ask(content), headers: { ...shown, ...named_one }, by });
    const stranger = from('127.0.0.2');
    const used = { status: 409, body: { code: 'claim_already_settled' } };
    expect(await show(SECRET, stranger)).toMatchObject(used);
    for (let guess = 1; guess < GUESSES; guess++) expect(await show(`Guess ${guess}`, stranger)).toMatchObject(used);
    for (const content of [SECRET, 'Guess 6']) expect(await show(content, stranger)).toMatchObject(wanting);
    expect((await show(SECRET, fetch, headers)).status).toBe(200);
  });

  it('is told to who shows one that was let go of, five times', async () => {
    const { account } = await boughtTwo();
    const let_go = await makePayment(service, account);
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    expect((await service.post(CHAT, ask('Another'), let_go.headers)).status).toBe(502);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    const show = (content: string, by: Fetch) =>
      service.knock<Chat>('POST', CHAT, { body: ask(content), headers: { ...let_go.headers, ...named_one }, by });
    const stranger = from('127.0.0.2');
    for (let guess = 0; guess < GUESSES; guess++)
      expect(await show(`Guess ${guess}`, stranger)).toMatchObject({ body: { code: 'idempotency_key_conflict' } });
    for (const content of [SECRET, 'Guess 6']) expect(await show(content, stranger)).toMatchObject(wanting);
    expect((await show(SECRET, fetch)).status).toBe(200);
  });
});

it('a payment that was let go of, and spent by others since, is worked for by nobody’s guess: its payer’s alone', async () => {
  const elsewhere = from('127.0.0.2');
  const letGo = async () => {
    const account = await service.chain.newWallet();
    const made = await makePayment(service, account);
    const show = (content: string, by: Fetch = fetch, more: Record<string, string> = {}) =>
      service.knock<Chat>('POST', CHAT, { body: ask(content), headers: { ...made.headers, ...more }, by });
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    expect((await show(SECRET)).status).toBe(502);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    await submitElsewhere(service, made);
    await guessed(show, elsewhere, 'payment_already_used');
    const other = await service.newAgent();
    // Neither a session of another agent nor a repetition makes the sender count as the payer.
    const tries: Record<string, string>[] = [{}, { 'X-SVC-Session': other.session }, {}];
    for (const more of tries) expect(await show(SECRET, elsewhere, more)).toMatchObject(wanting);
    expect(await service.claimsOf(account)).toMatchObject([{ state: 'released', reason: 'hub_failed' }]);
    return { account, show, nonce: made.message.nonce };
  };
  const first = await letGo();
  expect((await first.show(SECRET)).status).toBe(200);

  const { account, show, nonce } = await letGo();
  const at = nowSeconds();
  const message = redeliveryText({ ...here(nonce), at_seconds: at });
  const proof = { 'X-SVC-Redeliver': `${at}:${await account.signMessage({ message })}` };
  expect((await show(SECRET, elsewhere, proof)).status).toBe(200);
  expect(await service.transfersFrom(account)).toHaveLength(1);
});

it('a payment that its book refused, out of time since, tells nobody who guesses whether he has guessed its request', async () => {
  const { account, agent_id, session } = await service.newAgent();
  await service.post(`/v1/agents/${agent_id}/book/policy`, { session, policy_type: 'kill_switch', value: true });
  const validBefore = BigInt(nowSeconds() + 120);
  const { headers, message } = await makePayment(service, account, { signed: { validBefore } });
  const show = (content: string, by: Fetch = fetch, more: Record<string, string> = {}) =>
    service.knock<Chat>('POST', CHAT, { body: ask(content), headers: { ...headers, ...more }, by });
  const refused = { status: 403, body: { code: 'policy_blocked' } };
  expect(await show(SECRET)).toMatchObject(refused);
  // Moves the service's clock only so far that a proof signed by the real clock is still fresh.
  clock.pass(Number(validBefore) - limits.payment_validity_with_work_seconds_min + 1 - nowSeconds());

  const stranger = from('127.0.0.2');
  const told: unknown[] = [];
  for (let guess = 0; guess < GUESSES; guess++) told.push((await show(`Guess ${guess}`, stranger)).body);
  // The last guess is counted before it is answered, so its answer is already the refusal.
  for (const body of told.slice(0, -1)) expect(body).toMatchObject({ code: 'settlement_pending' });
  for (const content of [SECRET, 'Guess 6']) expect(await show(content, stranger)).toMatchObject(wanting);
  expect(await show(SECRET)).toMatchObject(refused);
  const at = nowSeconds();
  const text = redeliveryText({ ...here(message.nonce), at_seconds: at });
  const proof = { 'X-SVC-Redeliver': `${at}:${await account.signMessage({ message: text })}` };
  expect(await show(SECRET, stranger, proof)).toMatchObject(refused);
});

it('an Idempotency-Key that anybody could guess, beside a payment that was never shown here, tells no more than the payment that it was bought by', async () => {
  const key = { 'Idempotency-Key': 'order-1' };
  const account = await service.chain.newWallet();
  const first = await makePayment(service, account);
  const buy = await service.post(CHAT, ask(SECRET), { ...first.headers, ...key });
  expect(buy.status).toBe(200);
  const other = await makePayment(service, account);
  await submitElsewhere(service, other);
  const show = (content: string, by: Fetch = fetch, more: Record<string, string> = {}) =>
    service.knock<Chat>('POST', CHAT, { body: ask(content), headers: { ...other.headers, ...key, ...more }, by });
  const stranger = from('127.0.0.2');
  const conflict = { status: 409, body: { code: 'idempotency_key_conflict' } };
  for (let guess = 0; guess < GUESSES; guess++) expect(await show(`Guess ${guess}`, stranger)).toMatchObject(conflict);
  for (const content of [SECRET, 'Guess 6']) expect(await show(content, stranger)).toMatchObject(wanting);
  const again = await show(SECRET);
  expect([again.status, again.headers.get('x-svc-settlement-status')]).toEqual([200, 'idempotent_replay']);
  const at = nowSeconds();
  const message = redeliveryText({ ...here(first.message.nonce), at_seconds: at });
  const proof = { 'X-SVC-Redeliver': `${at}:${await account.signMessage({ message })}` };
  expect((await show(SECRET, stranger, proof)).status).toBe(200);
});

it('a payment that was shown with fifty other requests answers nobody but its payer', async () => {
  const { show } = await bought();
  for (let stranger = 1; stranger <= 10; stranger++) await guessed(show, from(`127.0.1.${stranger}`));
  expect(await show(SECRET, from('127.0.2.1'))).toMatchObject(wanting);
  expect((await show(SECRET)).status).toBe(200);
});

it('on /graphql it is the same', async () => {
  const { headers, show } = await bought();
  const stranger = from('127.0.0.2');
  await guessed(show, stranger);
  const query = 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { model } }';
  const body = { query, variables: { input: ask(SECRET) } };
  const { body: answer } = await service.knock('POST', '/graphql', { headers, body, by: stranger });
  expect(answer).toMatchObject({ errors: [{ extensions: { code: 'payer_proof_required' } }] });
});

it('the published client answers that by itself, and pays once', async () => {
  const account = await service.chain.newWallet();
  const stranger = from('127.0.0.2');
  let shown: Record<string, string> | null = null;
  let proofs = 0;
  const guessing: Fetch = async (input, init) => {
    const request = input as Request;
    const header = request.headers.get('PAYMENT-SIGNATURE');
    if (request.headers.has('X-SVC-Redeliver')) proofs++;
    if (header === null || shown !== null) return stranger(request.url, { ...init, ...(await bare(request)) });
    // The request is first bought from another address. Its answer is lost, and another address has used up its guesses since.
    shown = { 'PAYMENT-SIGNATURE': header };
    expect((await service.post(CHAT, ask(SECRET), shown)).status).toBe(200);
    const show = (content: string, by: Fetch) =>
      service.knock<Chat>('POST', CHAT, { body: ask(content), headers: shown ?? {}, by });
    await guessed(show, stranger);
    throw new TypeError('the answer is lost');
  };
  const pay = payingFetch({
    payments: new x402Client().register('eip155:*', new ExactEvmScheme(account)),
    signText: message => account.signMessage({ message }),
    fetch: guessing,
  });
  const answer = await service.knock<Chat>('POST', CHAT, { body: ask(SECRET), by: pay });
  expect([answer.status, answer.headers.get('x-svc-settlement-status')]).toEqual([200, 'idempotent_replay']);
  expect(proofs).toBe(1);
  expect(await service.transfersFrom(account)).toHaveLength(1);
});

async function bare(request: Request) {
  return { method: request.method, headers: Object.fromEntries(request.headers), body: await request.text() };
}

function withoutExtensions(header: string): string {
  const { extensions: _, ...payment } = JSON.parse(Buffer.from(header, 'base64').toString()) as Record<string, unknown>;
  return Buffer.from(JSON.stringify(payment)).toString('base64');
}
