import { beforeAll, describe, expect, it } from 'vitest';
import { registrationOf } from '../harness/buyer.ts';
import { makePayment } from '../harness/doors/make-payment.ts';
import {
  ask,
  CHAT,
  REGISTER,
  resetHubsBeforeEach,
  type Service,
  sharedService,
} from '../harness/doors/open-service.ts';

/* What a client gets that sends the same payment again, depending on the payment's state. The status of the payment must agree. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
resetHubsBeforeEach(() => service);

type Payer = Awaited<ReturnType<Service['chain']['newWallet']>>;
interface Kind {
  readonly path: string;
  body(payer: Payer): object | Promise<object>;
}

/** Calls whose work is done before or during the payment: a chat, a streamed chat and a response. */
const works: [title: string, kind: Kind][] = [
  ['a chat', { path: CHAT, body: () => ask('Again', { model: 'alpha-1' }) }],
  ['a streamed chat', { path: CHAT, body: () => ask('Again', { model: 'alpha-1', stream: true }) }],
  ['a response', { path: '/v1/responses', body: () => ({ input: 'Again', model: 'alpha-1' }) }],
];
const every: typeof works = [
  ...works,
  ['a registration', { path: REGISTER, body: payer => registrationOf(payer, { at: SIGNED_AT }) }],
];
/** A fixed time, so that the request is the same each time. */
const SIGNED_AT = Math.floor(Date.now() / 1000);

/** One payment and one request, which can be sent any number of times. */
async function ordered({ path, body }: Kind) {
  const payer = await service.chain.newWallet();
  const { headers, message } = await makePayment(service, payer);
  const request = JSON.stringify(await body(payer));
  const typed = { 'content-type': 'application/json', ...headers };
  return {
    payer,
    async send() {
      const answer = await fetch(service.url + path, { method: 'POST', headers: typed, body: request });
      const text = await answer.text();
      const problem = answer.headers.get('content-type')?.startsWith('application/problem+json');
      const code = problem
        ? (JSON.parse(text) as { code: string }).code
        : answer.headers.get('x-svc-settlement-status');
      return { heard: `${answer.status} ${code}`, settled_by: answer.headers.get('PAYMENT-RESPONSE') };
    },
    state: async () => (await service.get(`/v1/settlements/${message.nonce}`)).body.state ?? null,
  };
}

const once = async (payer: Payer) => expect(await service.transfersFrom(payer)).toHaveLength(1);

describe.each(every)('the same payment for %s', (_, kind) => {
  it('200 idempotent_replay once it has settled, by the same transaction and signed receipt', async () => {
    const { payer, send, state } = await ordered(kind);
    const first = await send();
    expect(first.heard).toMatch(/^200/);
    expect(await state()).toBe('settled');
    const again = await send();
    expect(again.heard).toMatch(/^200/);
    expect(again.settled_by).toBe(first.settled_by);
    await once(payer);
  });

  it('409 payment_in_flight while it waits for its block; never 402', async () => {
    const { payer, send, state } = await ordered(kind);
    await service.chain.setAutomine(false);
    const first = send();
    try {
      await expect.poll(state).toBe('pending');
      expect((await send()).heard).toBe('409 payment_in_flight');
    } finally {
      await service.chain.setAutomine(true);
      await service.chain.mine();
    }
    expect((await first).heard).toMatch(/^200/);
    expect((await send()).heard).toMatch(/^200/);
    expect(await state()).toBe('settled');
    await once(payer);
  });
});

describe('the same payment for what was bought under a session, shown without it', () => {
  it('403 with an empty body by REST', async () => {
    const { session } = await service.newAgent();
    const { headers } = await makePayment(service, await service.chain.newWallet());
    const send = (more = {}) => service.post(CHAT, ask('Mine alone'), { ...headers, ...more });
    expect((await send({ 'X-SVC-Session': session })).status).toBe(200);
    const typed = { 'content-type': 'application/json', ...headers };
    const heard = await fetch(service.url + CHAT, {
      method: 'POST',
      headers: typed,
      body: JSON.stringify(ask('Mine alone')),
    });
    expect([heard.status, await heard.text()]).toEqual([403, '']);
  });

  it('forbidden on /graphql, charged: true, and by its headers no client takes the payment for unused', async () => {
    const { session } = await service.newAgent();
    const { headers } = await makePayment(service, await service.chain.newWallet());
    const query = 'mutation { createChatCompletion(input: { messages: [{ role: "user", content: "Mine" }] }) { id } }';
    const send = (more = {}) => service.post('/graphql', { query }, { ...headers, ...more });
    expect((await send({ 'X-SVC-Session': session })).headers.get('x-svc-settlement-status')).toBe('settled');
    const refused = await send();
    expect(refused).toMatchObject({
      status: 200,
      body: { errors: [{ extensions: { code: 'forbidden', charged: true } }] },
    });
    expect(refused.headers.get('x-should-retry')).toBe('false');
  });
});

describe.each(works)('the same payment for %s', (_, kind) => {
  it('200 idempotent_replay says that of itself', async () => {
    const { send } = await ordered(kind);
    expect([(await send()).heard, (await send()).heard]).toEqual(['200 settled', '200 idempotent_replay']);
  });

  it('409 payment_in_flight while it is worked for', async () => {
    const { payer, send, state } = await ordered(kind);
    const before = service.gates.alpha.held();
    service.gates.alpha.hold();
    const first = send();
    await expect.poll(service.gates.alpha.held).toBe(before + 1);
    expect([await state(), (await send()).heard]).toEqual(['claimed', '409 payment_in_flight']);
    service.gates.alpha.open();
    expect([(await first).heard, (await send()).heard]).toEqual(['200 settled', '200 idempotent_replay']);
    await once(payer);
  });

  it('200 settled after it was let go of: no hub had answered', async () => {
    const { payer, send, state } = await ordered(kind);
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    expect([(await send()).heard, await state()]).toEqual(['502 hub_failed', 'released']);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect([(await send()).heard, await state()]).toEqual(['200 settled', 'settled']);
    await once(payer);
  });
});
