import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { errors } from '../../schema/errors.ts';
import type { PaymentHeaders } from '../harness/buyer.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import {
  ask,
  CHAT,
  type Chat,
  resetHubsBeforeEach,
  type Service,
  sharedService,
} from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { delegate } from '../harness/session/delegate.ts';
import { newKey } from '../harness/session/trees.ts';

/*
 * The money moved without an answer, because the process died during a stream or someone else submitted the payment after its release. Here
 * the stored answer is deleted; the deaths are tested in test/faults.
 */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
resetHubsBeforeEach(() => service);

const hubCalls = () => service.hubs[1].requests.length;
const lose = (task_id: string | undefined) =>
  service.query('update payment_claim set answer_box = null where task_id = $1', [task_id]);

/** A whole answer and a streamed one with the same text. */
const kinds = [
  [
    'whole',
    (content: string) => ask(content, { model: 'beta-1' }),
    async (body: JsonObject, payment: PaymentHeaders) => {
      const heard = await service.post<Chat>(CHAT, body, payment);
      return { text: heard.body.choices[0]?.message.content, svc: heard.body.svc };
    },
  ],
  [
    'streamed',
    (content: string) => askToStream(content, { model: 'beta-1' }),
    async (body: JsonObject, payment: PaymentHeaders) => {
      const { text, svc, ends_well } = await (await listen(service, body, { headers: payment })).rest();
      expect(ends_well).toBe(true);
      return { text, svc };
    },
  ],
] as const;

it('a whole answer that another hub and model gave says so in its headers and beside the receipt, which stays as signed', async () => {
  const { account } = await service.newAgent();
  const payment = await service.payment(account, CHAT);
  const first = await service.post<Chat>(CHAT, ask('By another'), payment);
  const { hub, model, task_id } = first.body.svc as unknown as Record<'hub' | 'model' | 'task_id', string>;
  expect([first.headers.get('x-svc-hub'), first.headers.get('x-svc-model')]).toEqual([hub, model]);
  await lose(task_id);
  service.hubs[hub === 'alpha' ? 0 : 1].behave({ kind: 'status', status: 500 });
  const other = hub === 'alpha' ? 'beta' : 'alpha';
  const by = { hub: other, model: `${other}-1`, answered_model: `${other}-1` };
  for (const _ of ['worked for', 'kept']) {
    const { headers, body } = await service.post<Chat>(CHAT, ask('By another'), payment);
    expect(['hub', 'model', 'answered-model'].map(name => headers.get(`x-svc-${name}`))).toEqual(Object.values(by));
    expect(body.svc).toMatchObject({ hub, model, answered_again: by });
  }
});

describe.each(kinds)('a payment without its answer (%s), sent again', (kind, bodyOf, buy) => {
  it('is worked for once more, free; the row is corrected, and from then on the answer is kept', async () => {
    const { account, agent_id, session } = await service.newAgent();
    const payment = await service.payment(account, CHAT);
    const body = bodyOf(`Again, ${kind}`);
    const first = await buy(body, payment);
    await lose(first.svc?.task_id);
    const before = hubCalls();

    const again = await buy(body, payment);
    expect(hubCalls()).toBe(before + 1);
    expect(again.text).toBe(first.text);
    expect(again.svc?.issuer_signature).toEqual(first.svc?.issuer_signature);
    expect(again.svc).toMatchObject({ settlement_status: 'idempotent_replay' });
    const events = await service.query<{ kind: string; body: JsonObject }>(
      'select kind, body from book_event where task_id = $1 order by position',
      [first.svc?.task_id],
    );
    expect(events.map(event => event.kind)).toEqual(['born', 'replay', 'correction']);
    expect(events.at(-1)?.body).toEqual({
      reason: 'answered_on_resend',
      output_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      ...{ hub: 'beta', model: 'beta-1', answered_model: 'beta-1', answered_catalogue_model: null },
    });

    expect((await buy(body, payment)).text).toBe(first.text);
    expect(hubCalls()).toBe(before + 1);
    // The second transfer is that of the registration.
    expect(await service.transfersFrom(account)).toHaveLength(2);
    const book = await service.get(`/v1/agents/${agent_id}/book`, { 'X-SVC-Session': session });
    expect(book.body).toMatchObject({ spent: '4000' });
  });

  it('403 kill_switch_resend under the kill switch of its book, with its receipt; answered once that is off, and kept', async () => {
    const agent = await service.newAgent();
    const { set } = policyDoorsOf(service);
    const payment = await service.payment(agent.account, CHAT);
    const body = bodyOf(`Stopped, ${kind}`);
    const first = await buy(body, payment);
    await lose(first.svc?.task_id);
    await set(agent, 'kill_switch', true);
    const before = hubCalls();
    const stopped = await service.post(CHAT, body, payment);
    expect(stopped).toMatchObject({
      status: 403,
      body: {
        code: 'kill_switch_resend',
        charged: true,
        task_id: first.svc?.task_id,
        verify_url: first.svc?.verify_url,
      },
    });
    expect(stopped.headers.get('x-should-retry')).toBe('false');
    expect(stopped.headers.get('x-svc-refusal-url')).toBeNull();
    expect(hubCalls()).toBe(before);
    await set(agent, 'kill_switch', null);
    expect((await buy(body, payment)).text).toBe(first.text);
    await set(agent, 'kill_switch', true);
    expect((await buy(body, payment)).text).toBe(first.text);
    expect(hubCalls()).toBe(before + 1);
  });

  it('by two at once: one works, the other is told to come again', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const body = bodyOf(`At once, ${kind}`);
    const first = await buy(body, payment);
    await lose(first.svc?.task_id);
    const before = hubCalls();
    const on = Promise.withResolvers<void>();
    service.hubs[1].behave({ kind: 'answer', until: on.promise });
    const working = buy(body, payment);
    await expect.poll(hubCalls).toBe(before + 1);
    const busy = await service.post(CHAT, body, payment);
    expect(busy).toMatchObject({ status: 409, body: { code: 'payment_in_flight', task_id: first.svc?.task_id } });
    expect(Number(busy.headers.get('Retry-After'))).toBeGreaterThan(0);
    on.resolve();
    expect((await working).text).toBe(first.text);
    expect((await buy(body, payment)).text).toBe(first.text);
    expect(hubCalls()).toBe(before + 1);
  });

  it('502 where the hub fails, charged as it was before; and it can be tried again', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const body = bodyOf(`Failing, ${kind}`);
    const first = await buy(body, payment);
    await lose(first.svc?.task_id);
    for (const then of ['close', 'close'] as const) {
      service.hubs[1].behave({ kind: then });
      const failed = await service.post(CHAT, body, payment);
      expect(failed).toMatchObject({
        status: 502,
        body: { code: 'hub_failed', charged: true, task_id: first.svc?.task_id, verify_url: first.svc?.verify_url },
      });
      expect(failed.text).not.toContain('Nothing was charged');
      expect(failed.body).toMatchObject({ title: errors.hub_failed[1] });
    }
    service.hubs[1].behave({ kind: 'answer' });
    expect((await buy(body, payment)).text).toBe(first.text);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('by nobody but the agent under whose session it was bought', async () => {
    const { account, session } = await service.newAgent();
    const payment = await service.payment(account, CHAT);
    const body = bodyOf(`Possessed, ${kind}`);
    const first = await buy(body, { ...payment, 'X-SVC-Session': session });
    await lose(first.svc?.task_id);
    const before = hubCalls();
    expect(await service.post(CHAT, body, payment)).toMatchObject({ status: 403, text: '' });
    expect(hubCalls()).toBe(before);
    expect((await buy(body, { ...payment, 'X-SVC-Session': session })).text).toBe(first.text);
  });

  it('410 once the request is kept no longer; the receipt stands', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const body = bodyOf(`Forgotten, ${kind}`);
    const first = await buy(body, payment);
    await service.query(`update payment_claim set answer_box = null, request_box = '' where task_id = $1`, [
      first.svc?.task_id,
    ]);
    const before = hubCalls();
    const gone = await service.post(CHAT, body, payment);
    expect(gone).toMatchObject({ status: 410, body: { code: 'answer_gone', verify_url: first.svc?.verify_url } });
    expect(hubCalls()).toBe(before);
  });

  it('410 under the kill switch too, where no answer can come any more: nothing is promised for when that is off', async () => {
    const agent = await service.newAgent();
    const payment = await service.payment(agent.account, CHAT);
    const body = bodyOf(`Closed and stopped, ${kind}`);
    const first = await buy(body, payment);
    await lose(first.svc?.task_id);
    await service.query(`update payment_claim set request_box = '' where task_id = $1`, [first.svc?.task_id]);
    await policyDoorsOf(service).set(agent, 'kill_switch', true);
    const gone = await service.post(CHAT, body, payment);
    expect(gone).toMatchObject({ status: 410, body: { code: 'answer_gone', verify_url: first.svc?.verify_url } });
  });

  it('410 where the payment was refunded while a hub answered: nothing of that answer goes out', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const body = bodyOf(`Refunded meanwhile, ${kind}`);
    const first = await buy(body, payment);
    await lose(first.svc?.task_id);
    const before = hubCalls();
    const on = Promise.withResolvers<void>();
    service.hubs[1].behave({ kind: 'answer', until: on.promise });
    const working = service.post(CHAT, body, payment);
    await expect.poll(hubCalls).toBe(before + 1);
    const closed = `update payment_claim set request_box = '', rerun_owner = null, rerun_at = null where task_id = $1`;
    await service.query(closed, [first.svc?.task_id]);
    on.resolve();
    const gone = await working;
    expect(gone).toMatchObject({ status: 410, body: { code: 'answer_gone', verify_url: first.svc?.verify_url } });
    expect(gone.text).not.toContain(first.text);
  });

  it('is free for another process to work for once the one that held it is gone', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const body = bodyOf(`Held, ${kind}`);
    const first = await buy(body, payment);
    const hold = (owner: string) =>
      service.query(
        `update payment_claim set answer_box = null, rerun_at = now(), rerun_owner = ${owner} where task_id = $1`,
        [first.svc?.task_id],
      );
    await hold('(select owner from process_lease)');
    expect(await service.post(CHAT, body, payment)).toMatchObject({ status: 409 });
    await hold('gen_random_uuid()');
    expect((await buy(body, payment)).text).toBe(first.text);
  });
});

it('a stream that breaks off when it is worked for again is not kept: the next may be whole', async () => {
  const payer = await service.chain.newWallet();
  const payment = await service.payment(payer, CHAT);
  const body = askToStream('Breaking off again', { model: 'beta-1' });
  const first = await (await listen(service, body, { headers: payment })).rest();
  await lose(first.svc?.task_id);
  service.hubs[1].behave({ kind: 'answer', in_stream: { after_words: 2, does: 'close' } });
  const broken = await (await listen(service, body, { headers: payment })).rest();
  expect(broken).toMatchObject({ ends_well: false, text: 'This is ', finish_reasons: [], error: { reruns_left: 2 } });
  service.hubs[1].behave({ kind: 'answer' });
  const again = await (await listen(service, body, { headers: payment })).rest();
  expect(again).toMatchObject({ ends_well: true, text: first.text, finish_reasons: ['stop'] });
  expect(again.svc?.issuer_signature).toEqual(first.svc?.issuer_signature);
});

it('a reader who leaves a stream that is worked for again is answered the next time', async () => {
  const payer = await service.chain.newWallet();
  const payment = await service.payment(payer, CHAT);
  const body = askToStream('Leaving again', { model: 'beta-1' });
  const first = await (await listen(service, body, { headers: payment })).rest();
  await lose(first.svc?.task_id);
  const before = hubCalls();
  const on = Promise.withResolvers<void>();
  service.hubs[1].behave({ kind: 'answer', in_stream: { after_words: 1, does: on.promise } });
  const stream = await listen(service, body, { headers: payment });
  await stream.next();
  stream.leave();
  on.resolve();
  const kept = () =>
    service.query('select 1 from payment_claim where task_id = $1 and answer_box is not null', [first.svc?.task_id]);
  await expect.poll(kept).toHaveLength(1);
  expect(await (await listen(service, body, { headers: payment })).rest()).toMatchObject({ text: first.text });
  expect(hubCalls()).toBe(before + 1);
});

it('under a session is answered once more by a model of its grant', async () => {
  const { account } = await service.newAgent();
  const { headers } = await delegate(account, account, newKey(), { models: ['beta-1'] });
  const shown = { ...(await service.payment(account, CHAT)), ...headers };
  const first = await service.post<Chat>(CHAT, ask('Again under a session'), shown);
  expect([first.status, first.body.model]).toEqual([200, 'beta-1']);
  await lose(first.body.svc.task_id);
  const again = await service.post<Chat>(CHAT, ask('Again under a session'), shown);
  expect([again.status, again.body.model]).toEqual([200, 'beta-1']);
});
