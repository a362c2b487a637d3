import { beforeAll, describe, expect, it } from 'vitest';
import { ChatFault } from '../../rest-compat/inference/stream-fault.ts';
import { payingFetch } from '../harness/buyer.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import { CHAT, openService, resetHubsBeforeEach, type Service } from '../harness/doors/open-service.ts';
import type { InStream } from '../harness/hub.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({}, { meant: /LostClaim/ });
});
resetHubsBeforeEach(() => service);

/** Longer than the service uses what it has read of the chain. */
const CHAIN_KNOWN_MS = 2_500;

const breaksOff = (does: InStream['does'], after_words = 2) =>
  ({ kind: 'answer', in_stream: { after_words, does } }) as const;

const output_commitment = { status: 'UNVERIFIED', hash: null, kind: null, omission_rule: 'hub_broke_off' };
/** A chat that breaks off, with its request and its payment. */
async function brokenBy(how: InStream['does'], content: string, headers = {}) {
  const agent = await service.newAgent();
  const payment = { ...(await service.payment(agent.account, CHAT)), ...headers };
  const body = askToStream(content, { model: 'beta-1', stream_options: { include_usage: true } });
  const hear = async () => (await listen(service, body, { headers: payment })).rest();
  service.hubs[1].behave(breaksOff(how));
  return { agent, hear, first: await hear() };
}

describe('a hub that breaks off in the midst of a paid stream', () => {
  it.each<InStream['does']>(['close', 'bad_json'])(
    'by %s: the pieces, the receipt, and an error in place of [DONE]; the same payment brings the whole',
    async how => {
      const { agent, hear, first } = await brokenBy(how, `Break off: ${how}`);
      const { account, agent_id, session } = agent;
      expect(first).toMatchObject({ ends_well: false, finish_reasons: [], text: 'This is ' });
      const last = first.chunks.at(-1);
      expect(last).toMatchObject({ choices: [], usage: null });
      expect(last?.svc).toMatchObject({ proof_outcome: 'settled', payload: { fulfillment: { output_commitment } } });
      expect(last?.svc).not.toHaveProperty('rerun');
      expect(first.error).toMatchObject({
        charged: true,
        reruns_left: 3,
        task_id: last?.svc?.task_id,
        verify_url: last?.svc?.verify_url,
        error: { code: 'hub_broke_off', type: 'server_error', param: null },
      });
      expect(ChatFault.parse(first.error)).toEqual(first.error);
      expect(Object.keys(ChatFault.shape)).toEqual(expect.arrayContaining(Object.keys(first.error ?? {})));
      const told = expect.stringMatching(
        /ended its answer before it was complete.* Send the same request with the same payment within 24 hours/,
      );
      expect(first.error).toMatchObject({ error: { message: told } });

      // The payment is proven, but the output is not.
      const book = () =>
        service.get<{ entries: object[] }>(`/v1/agents/${agent_id}/book`, { 'X-SVC-Session': session });
      const row = { task_id: last?.svc?.task_id, evidence: 'collected', collected: true };
      const entry = expect.objectContaining({ ...row, fulfillment: expect.objectContaining({ output_commitment }) });
      expect((await book()).body.entries).toContainEqual(entry);

      service.hubs[1].behave({ kind: 'answer' });
      const again = await hear();
      expect(again).toMatchObject({ ends_well: true, finish_reasons: ['stop'] });
      expect(again.text).toContain('You said: "Break off');
      expect(again.svc).toMatchObject({ settlement_status: 'idempotent_replay', rerun: 1 });
      expect(again.svc?.issuer_signature).toEqual(first.svc?.issuer_signature);
      expect((await book()).body.entries).toContainEqual(entry);
      // The second transfer is that of the registration.
      expect(await service.transfersFrom(account)).toHaveLength(2);
    },
  );

  it('by more than an answer may hold: the limit is ours, and the same payment brings the same part', async () => {
    const { hear, first } = await brokenBy('flood', 'Flood');
    expect(first).toMatchObject({ ends_well: false, finish_reasons: [] });
    expect(first.svc).toMatchObject({ payload: { fulfillment: { output_commitment } } });
    expect(first.error).toMatchObject({ reruns_left: 0, charged: true, error: { code: 'stream_cut_off' } });
    service.hubs[1].behave({ kind: 'answer' });
    const before = service.hubs[1].requests.length;
    const again = await hear();
    expect(again).toMatchObject({ ends_well: false, text: first.text, error: first.error ?? {} });
    expect(again.svc?.issuer_signature).toEqual(first.svc?.issuer_signature);
    expect(service.hubs[1].requests).toHaveLength(before);
  });

  it('under a key: nothing was charged, and the error says so', async () => {
    service.hubs[1].behave(breaksOff('close'));
    const headers = { Authorization: 'Bearer a-live-key' };
    const heard = await (await listen(service, askToStream('By key', { model: 'beta-1' }), { headers })).rest();
    expect(heard).toMatchObject({ ends_well: false, svc: { settlement_status: 'waived' } });
    expect(heard.error).toMatchObject({ charged: false, error: { code: 'hub_broke_off' } });
    expect(heard.error).not.toHaveProperty('reruns_left');
  });
});

describe('a hub that fails before its first piece', () => {
  it.each<['close' | 'bad_json']>([['close'], ['bad_json']])('by %s: the other one answers', async how => {
    const payer = await service.chain.newWallet();
    service.hubs[0].behave(breaksOff(how, 0));
    // The hub is avoided after a failure, so it would be called last.
    const stream = await listen(service, askToStream(`Fail over: ${how}`), { by: payingFetch(payer) });
    expect(await stream.rest()).toMatchObject({ ends_well: true, finish_reasons: ['stop'], svc: { hub: 'beta' } });
  });

  it('and no other: 502, nothing charged, and the payment stays usable', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    for (const hub of service.hubs) hub.behave(breaksOff('close', 0));
    const failed = await service.post(CHAT, askToStream('Nobody'), payment);
    expect(failed).toMatchObject({ status: 502, body: { code: 'hub_failed', charged: false } });
    expect(failed.body.attempts).toHaveLength(2);
    expect(await service.transfersFrom(payer)).toEqual([]);
    expect(await service.claimsOf(payer)).toEqual([{ state: 'released', reason: 'hub_failed' }]);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    const heard = await (await listen(service, askToStream('Nobody'), { headers: payment })).rest();
    expect(heard).toMatchObject({ ends_well: true });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

describe('a payment that cannot be settled once the hub has begun', () => {
  it('503: the hub is hung up on, nothing goes out, nothing is charged, and the payment stays usable', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const before = service.hubs[1].deserted();
    service.hubs[1].behave(() => {
      service.gates.base.cut();
      return { ...breaksOff('hang'), delay_ms: CHAIN_KNOWN_MS };
    });
    const body = askToStream('Unsettled', { model: 'beta-1' });
    const failed = await service.post(CHAT, body, payment);
    expect(failed).toMatchObject({ status: 503, body: { code: 'chain_unavailable', charged: false } });
    await expect.poll(service.hubs[1].deserted).toBe(before + 1);
    expect(await service.claimsOf(payer)).toEqual([{ state: 'released', reason: 'chain_unavailable' }]);

    service.gates.base.open();
    service.hubs[1].behave({ kind: 'answer' });
    expect(await (await listen(service, body, { headers: payment })).rest()).toMatchObject({ ends_well: true });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

describe('a reader who leaves', () => {
  it('in the midst of a stream: it is recorded whole, and a resend brings all of it', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const on = Promise.withResolvers<void>();
    const before = service.hubs[1].requests.length;
    service.hubs[1].behave(breaksOff(on.promise));
    const body = askToStream('Leave me', { model: 'beta-1' });
    const stream = await listen(service, body, { headers: payment });
    await stream.next();
    stream.leave();
    on.resolve();
    await expect.poll(() => service.claimsOf(payer)).toEqual([{ state: 'recorded', reason: null }]);

    const again = await (await listen(service, body, { headers: payment })).rest();
    expect(again).toMatchObject({ ends_well: true, finish_reasons: ['stop'] });
    expect(again.text).toContain('You said: "Leave me"');
    expect(again.svc).toMatchObject({
      settlement_status: 'idempotent_replay',
      payload: { fulfillment: { output_commitment: { status: 'committed' } } },
    });
    expect(service.hubs[1].requests).toHaveLength(before + 1);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

describe('a stream that cannot be recorded', () => {
  it('ends with an error and without [DONE]; the payment brings the answer later', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const on = Promise.withResolvers<void>();
    service.hubs[1].behave(breaksOff(on.promise));
    const body = askToStream('Unrecorded', { model: 'beta-1' });
    const stream = await listen(service, body, { headers: payment });
    await stream.next();
    // Changes the claim's owner, as if this process had slept past its lease and another had taken over.
    await service.query(`update payment_claim set lease_epoch = lease_epoch + 1 where lower(payer) = lower($1)`, [
      payer.address,
    ]);
    on.resolve();
    const heard = await stream.rest();
    expect(heard.ends_well).toBe(false);
    const task_id = stream.headers.get('x-svc-task-id');
    expect(heard.error).toMatchObject({
      task_id,
      retry_after_seconds: expect.any(Number),
      error: { code: 'settlement_pending', message: expect.any(String), type: 'server_error' },
    });
    expect(heard.svc).toBeUndefined();
    expect(heard.finish_reasons).toEqual([]);

    service.hubs[1].behave({ kind: 'answer' });
    await service.query(`update payment_claim set lease_owner = null where lower(payer) = lower($1)`, [payer.address]);
    await expect.poll(() => service.claimsOf(payer)).toEqual([{ state: 'recorded', reason: null }]);
    const again = await (await listen(service, body, { headers: payment })).rest();
    expect(again).toMatchObject({
      ends_well: true,
      finish_reasons: ['stop'],
      svc: {
        payload: { fulfillment: { output_commitment: { status: 'UNVERIFIED', omission_rule: 'process_ended' } } },
      },
    });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});
