import { randomBytes } from 'node:crypto';
import { decodePaymentResponseHeader } from '@x402/core/http';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CALL_HEADER, callKey, type SubgraphCall, signCall } from '../../../../gateway/graph/remote/call.ts';
import { sha256Hex } from '../../../../schema/digest.ts';
import { nobody } from '../../../../schema/principal.ts';
import { listen } from '../../../harness/doors/listen.ts';
import { type Answer, harmless, jwsOf, nameOf, newBuyer, type Order, send } from '../../../harness/faults/buyer.ts';
import { claimOf } from '../../../harness/faults/claims.ts';
import { eventually } from '../../../harness/faults/ground.ts';
import { openRemoteGraph, type RemoteGraph } from '../../../harness/graph/remote/processes.ts';

let service: RemoteGraph;
let buyer: Awaited<ReturnType<typeof newBuyer>>;
beforeAll(async () => {
  service = await openRemoteGraph({ remote: ['receipt'], unreachable: ['board', 'session'] });
  buyer = await newBuyer(service);
});
beforeEach(() => service.hub.behave({ kind: 'answer' }));

/** What each payment brought the treasury. */
async function transfersOf({ authorization }: Order): Promise<number> {
  const used = await service.chain.transfers(service.pay_to);
  return used.filter(({ from }) => from === authorization.payer.toLowerCase()).length;
}

/** The same payment, sent until it is answered for good. */
async function answerTo(order: Order): Promise<Answer> {
  return eventually('an answer for the same payment', async () => {
    const answer = await send(service, order);
    expect([...harmless, '503 unavailable']).toContain(nameOf(answer));
    return answer.status === 200 ? answer : null;
  });
}

/** Nothing that makes a payer sign another payment, and nothing that is not known. */
function expectNotKnown(answer: Answer): void {
  expect(nameOf(answer)).toBe('503 settlement_pending');
  expect(answer.headers.get('retry-after')).toBe('2');
  expect(answer.headers.get('x-should-retry')).toBe('false');
  // This process does not know whether the payment was sent, so the header reports it as pending.
  const outcome = { success: false, errorReason: 'settlement_pending', transaction: '', network: 'base' };
  expect(decodePaymentResponseHeader(answer.headers.get('X-PAYMENT-RESPONSE') ?? '')).toMatchObject(outcome);
  expect(answer.headers.has('PAYMENT-REQUIRED')).toBe(false);
  expect(answer.body).not.toHaveProperty('charged');
}

/** What a gateway says of itself where an operator looks. */
async function standing() {
  const readiness = await fetch(`${service.url}/readyz`);
  const { away = [], without = [] } = (await readiness.json()) as { away?: string[]; without?: string[] };
  const health = (await (await fetch(`${service.url}/health`)).json()) as { status: string; away: string[] };
  return { ready: readiness.status, away, without, health };
}

describe('a subgraph that does not answer', () => {
  it('shows in /readyz and /health: 200 without it, or 503 where it is the one that sells most', async () => {
    const closed = ['session_subgraph', 'board_subgraph'];
    await expect.poll(standing).toMatchObject({ ready: 200, without: closed });
    expect((await standing()).health).toMatchObject({ status: 'degraded', away: closed });
    await service.kill('receipt');
    await expect.poll(standing).toMatchObject({ ready: 503, away: ['receipt_subgraph'] });
    expect((await standing()).health.away).toEqual(expect.arrayContaining(['receipt_subgraph', ...closed]));
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toContain('svc_away{need="board_subgraph"} 1');
    expect(metrics).toContain('svc_away{need="book_subgraph"} 0');
    await service.restart('receipt');
    await expect.poll(standing).toMatchObject({ ready: 200, away: [], without: closed });
  });
});

describe('the receipt subgraph killed in the midst of a paid call', () => {
  it('while the hub is asked: 503 settlement_pending; once it is back the same payment gets its answer', async () => {
    const order = await buyer.chat('Killed at work');
    const on = Promise.withResolvers<void>();
    service.hub.behave({ kind: 'answer', until: on.promise });
    const asked = service.hub.requests.length;
    const answered = send(service, order);
    await eventually('the hub asked', () => service.hub.requests.length > asked || null);
    await service.kill('receipt');
    expectNotKnown(await answered);
    on.resolve();
    expect(nameOf(await send(service, order))).toBe('503 unavailable');

    service.hub.behave({ kind: 'answer' });
    await service.restart('receipt');
    await answerTo(order);
    expect(await transfersOf(order)).toBe(1);
  });

  it('after the money was sent: 503 settlement_pending; the same payment gets its answer, and no second one is made', async () => {
    const other = await newBuyer(service);
    const order = await other.chat('Killed once it was sent');
    await service.restartFaulty('receipt', 'after_broadcast');
    expectNotKnown(await send(service, order));
    await service.restart('receipt');
    const answer = await answerTo(order);
    expect(answer.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(jwsOf(await send(service, order))).toBe(jwsOf(answer));
    expect(await transfersOf(order)).toBe(1);
  });

  it('in a stream: an error and no [DONE]; the same payment gets the whole', async () => {
    const other = await newBuyer(service);
    const order = await other.stream('Killed in a stream');
    const on = Promise.withResolvers<void>();
    service.hub.behave({ kind: 'answer', in_stream: { after_words: 2, does: on.promise } });
    const open = () => listen(service, JSON.parse(order.body), { headers: { 'x-payment': order.payment } });
    const stream = await open();
    await stream.next();
    await service.kill('receipt');
    const heard = await stream.rest();
    on.resolve();
    expect(heard).toMatchObject({ ends_well: false, error: { error: { code: 'settlement_pending' } } });

    service.hub.behave({ kind: 'answer' });
    await service.restart('receipt');
    const whole = await eventually('the stream once more', async () => {
      const again = await open();
      if (again.status === 200) return again.rest();
      expect([409, 503]).toContain(again.status);
      again.leave();
      return null;
    });
    expect(whole).toMatchObject({ ends_well: true, text: expect.stringContaining('Killed in a stream') });
    expect(await transfersOf(order)).toBe(1);
  });
});

describe('the receipt subgraph stopped in the midst of a paid call', () => {
  it('brings it to its end before it goes', async () => {
    const subgraph = await service.restartAsProcess('receipt');
    const other = await newBuyer(service);
    const order = await other.chat('Stopped at work');
    const on = Promise.withResolvers<void>();
    service.hub.behave({ kind: 'answer', until: on.promise });
    const asked = service.hub.requests.length;
    const answered = send(service, order);
    await eventually('the hub asked', () => service.hub.requests.length > asked || null);
    const stopped = subgraph.stop();
    // Its port is closed by now, and nothing new comes in.
    await eventually('closed', async () =>
      (await fetch(`${service.urls.receipt}/livez`).catch(() => null)) ? null : true,
    );
    on.resolve();
    expect(nameOf(await answered)).toBe('200');
    expect(await stopped).toBe(0);
    await service.restart('receipt');
  });
});

describe('subgraphs that are nowhere', () => {
  const ask = async (query: string) => {
    const typed = { 'content-type': 'application/json' };
    const answer = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: typed,
      body: JSON.stringify({ query }),
    });
    return (await answer.json()) as { data: object | null; errors?: readonly object[] };
  };

  it('unavailable for their fields by /graphql, while others work', async () => {
    const unavailable = expect.objectContaining({ extensions: { code: 'unavailable', status: 503 } });
    expect((await ask('{ boardPosts { postId } }')).errors).toEqual([unavailable]);
    expect((await ask('{ agent(agentId: 1) { wallet } models { id } }')).errors).toEqual([unavailable]);
    expect((await ask('{ models { id } }')).data).toEqual({ models: [{ id: 'svc/auto' }, { id: 'test/model' }] });
    expect(nameOf(await send(service, await buyer.chat('While others are away')))).toBe('200');
  });

  it('503 unavailable at their REST doors: a payment that came along was not taken', async () => {
    const order = await buyer.registration();
    const answer = await send(service, order);
    expect(nameOf(answer)).toBe('503 unavailable');
    expect(answer.headers.get('x-should-retry')).toBe('false');
    // Of what was sent this process knows nothing.
    const outcome = { success: false, errorReason: 'settlement_pending', transaction: '', network: 'base' };
    expect(decodePaymentResponseHeader(answer.headers.get('X-PAYMENT-RESPONSE') ?? '')).toMatchObject(outcome);
    expect(answer.headers.has('PAYMENT-REQUIRED')).toBe(false);
    expect(await claimOf(service, order)).toBeNull();
  });
});

describe('a call to a subgraph that its gateway did not make', () => {
  const BUY = 'mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { svc } }';

  /** A signed call with a payment, as the gateway makes it; what is given makes it another. */
  async function call({ secret = service.secret, body: sent, ...members }: Partial<SubgraphCall> & Forgery = {}) {
    const order = await buyer.chat('Behind the back of the gateway');
    const body = JSON.stringify({ query: BUY, variables: { input: JSON.parse(order.body) } });
    const envelope = JSON.parse(Buffer.from(order.payment, 'base64').toString());
    const header = signCall(callKey(secret), {
      subgraph: 'receipt',
      principal: nobody,
      payment: { x402_version: 1, envelope },
      at_ms: Date.now(),
      nonce: randomBytes(16).toString('hex'),
      body_sha256: sha256Hex(body),
      ...members,
    });
    const post = async (headers: Readonly<Record<string, string>> = { [CALL_HEADER]: header }) => {
      const typed = { 'content-type': 'application/json', ...headers };
      const url = `${service.urls.receipt}/graphql`;
      const answer = await fetch(url, { method: 'POST', headers: typed, body: sent ?? body });
      return { status: answer.status, text: await answer.text() };
    };
    return { order, post };
  }

  interface Forgery {
    readonly secret?: string;
    /** In place of what was signed. */
    readonly body?: string;
  }

  it.each<[string, () => Partial<SubgraphCall> & Forgery]>([
    ['signed with another secret', () => ({ secret: 'not the secret between them' })],
    ['of 31 seconds ago', () => ({ at_ms: Date.now() - 31_000 })],
    ['of 31 seconds to come', () => ({ at_ms: Date.now() + 31_000 })],
    ['made for another subgraph', () => ({ subgraph: 'book' })],
    ['with another body', () => ({ body: JSON.stringify({ query: BUY, variables: { input: { messages: [] } } }) })],
    ['with a digest of another body', () => ({ body_sha256: sha256Hex('') })],
  ])('401 %s, without a word, and nothing is done', async (_, forgery) => {
    const { order, post } = await call(forgery());
    expect(await post()).toEqual({ status: 401, text: '' });
    expect(await claimOf(service, order)).toBeNull();
  });

  it('signed, may leave its variables out', async () => {
    const body = JSON.stringify({ query: '{ models { id } }' });
    const { post } = await call({ body, body_sha256: sha256Hex(body), payment: null });
    const { status, text } = await post();
    expect([status, text]).toEqual([200, expect.stringContaining('svc/auto')]);
  });

  it('401 unsigned, whatever credentials come along', async () => {
    const { order, post } = await call();
    expect(await post({})).toEqual({ status: 401, text: '' });
    expect(await post({ 'x-payment': order.payment, authorization: `Bearer ${service.secret}` })).toEqual({
      status: 401,
      text: '',
    });
    expect(await claimOf(service, order)).toBeNull();
  });

  it('401 on what was taken before', async () => {
    const { post } = await call({ payment: null, principal: nobody });
    expect(await post()).toMatchObject({ status: 200, text: expect.stringContaining('payment_required') });
    expect(await post()).toEqual({ status: 401, text: '' });
  });

  it('404 for all that is not its graph, and its health for its operator', async () => {
    expect((await fetch(`${service.urls.receipt}/v1/models`)).status).toBe(404);
    const health = await fetch(`${service.urls.receipt}/health`);
    expect(await health.json()).toMatchObject({ status: 'ok' });
  });

  it('what it logs holds neither payment nor signature', () => {
    const logs = service.running.get('receipt')?.logs.join('\n');
    expect(logs).not.toContain(service.secret);
    expect(logs).not.toMatch(/validBefore|x-payment|eyJ/);
  });
});
