import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transferCall } from '../../../../gateway/rails/base/contracts.ts';
import { readSignature } from '../../../../gateway/rails/base/signature.ts';
import { payingFetch } from '../../../harness/buyer.ts';
import { askToStream, listen } from '../../../harness/doors/listen.ts';
import {
  auditArrivals,
  type FacilitatorService,
  openFacilitatorService,
  registeredBuyer,
  settledAnswerTo,
} from '../../../harness/facilitator/open-service.ts';
import { type FacilitatorBehaviour, type FacilitatorReply, honest } from '../../../harness/facilitator.ts';
import { jwsOf, nameOf, newBuyer, type Order, send, submitElsewhere } from '../../../harness/faults/buyer.ts';
import { claimOf } from '../../../harness/faults/claims.ts';
import type { RunningService } from '../../../harness/worker-gateway.ts';

let service: FacilitatorService;
let gateway: RunningService;
let buyer: Awaited<ReturnType<typeof newBuyer>>;

beforeAll(async () => {
  service = await openFacilitatorService();
  gateway = await service.startPollingFast();
  buyer = await registeredBuyer(service, gateway);
});

afterAll(async () => {
  await auditArrivals(service);
});

const nonsense = `0x${randomBytes(32).toString('hex')}`;

/** From a wallet of its own, so that its transfers can be counted. */
async function order(prompt: string): Promise<Order> {
  return (await newBuyer(service.ground)).chat(prompt);
}

describe('POST /v1/chat/completions, settled by a facilitator', () => {
  it('200: it is asked once, in x402 v2, and the row is collected by what the chain shows', async () => {
    const paid = await buyer.chat('Good day');
    const answer = await send(gateway, paid);
    expect(answer.status).toBe(200);
    const asked = service.timesAsked(paid);
    const { authorization, signature } = paid;
    expect(service.facilitator.settlements.at(-1)?.body).toMatchObject({
      x402Version: 2,
      paymentPayload: {
        x402Version: 2,
        accepted: { scheme: 'exact', network: 'eip155:8453', amount: '2000', payTo: service.ground.pay_to },
        payload: { signature, authorization: { from: authorization.payer, value: '2000', nonce: authorization.nonce } },
      },
    });
    expect(answer.body.svc).toMatchObject({ settled_by: 'observed_transfer', proof_outcome: 'settled' });
    const { task_id } = answer.body.svc as { task_id: string };
    const text = 'select evidence, collected, arrival_status, recorded_by from book_row where task_id = $1';
    expect(await service.ground.database.query({ text, values: [task_id] })).toEqual([
      { evidence: 'collected', collected: true, arrival_status: 'confirmed', recorded_by: null },
    ]);
    expect(jwsOf(await send(gateway, paid))).toBe(jwsOf(answer));
    expect(service.timesAsked(paid)).toBe(asked);
  });

  it('200 to many at once, each charged once', async () => {
    const orders = await Promise.all(Array.from({ length: 8 }, (_, index) => order(`The ${index}th`)));
    const answers = await Promise.all(orders.map(paid => settledAnswerTo(gateway, paid)));
    expect(answers.map(nameOf)).toEqual(orders.map(() => '200'));
    for (const paid of orders) expect(await service.transfersOf(paid)).toHaveLength(1);
  });

  it('200 to a stream, settled before its first byte', async () => {
    const payer = await service.ground.chain.newWallet();
    const stream = await listen(gateway, askToStream('Piece by piece'), { by: payingFetch(payer) });
    expect(stream.status).toBe(200);
    const transfers = await service.ground.chain.transfers(service.ground.pay_to);
    expect(transfers.filter(({ from }) => from === payer.address.toLowerCase())).toHaveLength(1);
    const { ends_well, svc } = await stream.rest();
    expect(ends_well).toBe(true);
    expect(svc).toMatchObject({ settled_by: 'observed_transfer', proof_outcome: 'settled' });
  });

  it('200 without asking it, where somebody else has submitted the payment', async () => {
    const paid = await order('Already there');
    await submitElsewhere(service.ground, paid);
    expect((await send(gateway, paid)).status).toBe(200);
    expect(service.timesAsked(paid)).toBe(0);
    expect(await service.transfersOf(paid)).toHaveLength(1);
  });
});

describe('POST /v1/agents/register, settled by a facilitator', () => {
  it('200 with a book, and the same payment again brings the same', async () => {
    const newcomer = await newBuyer(service.ground);
    const registration = await newcomer.registration();
    const answer = await send(gateway, registration);
    expect(answer).toMatchObject({ status: 200, body: { agentWallet: newcomer.address, idempotent_replay: false } });
    const { agent_id } = answer.body;
    expect(await send(gateway, registration)).toMatchObject({
      status: 200,
      body: { agent_id, idempotent_replay: true },
    });
    expect(await service.transfersOf(registration)).toHaveLength(1);
  });

  it('503 settlement_pending where it is not known to have settled, and 200 to the same payment later', async () => {
    const newcomer = await newBuyer(service.ground);
    const registration = await newcomer.registration();
    service.facilitator.behave({ settles: false, reply: { kind: 'hang_up' } });
    expect(nameOf(await send(gateway, registration))).toBe('503 settlement_pending');
    service.facilitator.behave(honest);
    expect((await settledAnswerTo(gateway, registration)).body).toMatchObject({ agentWallet: newcomer.address });
    expect(await service.transfersOf(registration)).toHaveLength(1);
  });
});

describe('a facilitator that says success', () => {
  it('and names a transaction that is not there: the row is collected by the one that is', async () => {
    const paid = await order('Misnamed');
    service.facilitator.behave({ settles: true, reply: { kind: 'success', transaction: nonsense } });
    const { status, body } = await send(gateway, paid);
    const [transfer] = await service.transfersOf(paid);
    expect({ status, ...(body.svc as object) }).toMatchObject({
      status: 200,
      payment_ref: `base:${transfer?.tx_hash}`,
    });
  });

  it('503, never collected, where it names the transaction of another payment', async () => {
    const other = await order('The other');
    expect((await send(gateway, other)).status).toBe(200);
    const [transfer] = await service.transfersOf(other);
    const paid = await order('Borrowed plumes');
    service.facilitator.behave({ settles: false, reply: { kind: 'success', transaction: transfer?.tx_hash ?? '' } });
    expect(nameOf(await send(gateway, paid))).toBe('503 settlement_pending');
    expect(await claimOf(service.ground, paid)).toMatchObject({ state: 'settling' });
    service.facilitator.behave(honest);
    expect((await settledAnswerTo(gateway, paid)).status).toBe(200);
    expect(await service.transfersOf(paid)).toHaveLength(1);
  });

  it('402, released, where the transaction that it names was reverted; the payment stays usable', async () => {
    const paid = await order('Reverted');
    const { authorization, signature } = paid;
    const read = readSignature(signature);
    if (read.kind !== 'read') throw new Error(read.kind);
    // The very call, with too little gas for it.
    const transaction = await revertedTransaction(transferCall(authorization, read.signature));
    service.facilitator.behave({ settles: false, reply: { kind: 'success', transaction } });
    expect(await send(gateway, paid)).toMatchObject({ status: 402, body: { error: 'reverted' } });
    await expectUsable(paid);
  });

  it('503, not released, where the transaction that it names was reverted and is not of this payment', async () => {
    const paid = await order('Reverted elsewhere');
    const transaction = await revertedTransaction('0xdeadbeef');
    service.facilitator.behave({ settles: false, reply: { kind: 'success', transaction } });
    expect(nameOf(await send(gateway, paid))).toBe('503 settlement_pending');
    expect(await claimOf(service.ground, paid)).toMatchObject({ state: 'settling' });
    service.facilitator.behave(honest);
    expect((await settledAnswerTo(gateway, paid)).status).toBe(200);
    expect(await service.transfersOf(paid)).toHaveLength(1);
  });
});

describe('a facilitator that says no', () => {
  it('200 where it has settled all the same', async () => {
    const paid = await order('A lie');
    service.facilitator.behave({ settles: true, reply: { kind: 'failure', reason: 'insufficient_funds' } });
    expect((await send(gateway, paid)).status).toBe(200);
    expect(await service.transfersOf(paid)).toHaveLength(1);
  });

  it.each([200, 400])('402 with its reason under %d where it has not; the payment stays usable', async status => {
    const paid = await order(`Not today ${status}`);
    const says: FacilitatorReply = { kind: 'failure', reason: 'invalid_exact_evm_signature', status };
    service.facilitator.behave({ settles: false, reply: says });
    expect(await send(gateway, paid)).toMatchObject({ status: 402, body: { error: 'invalid_exact_evm_signature' } });
    await expectUsable(paid);
  });

  // The official one says the first where its node took the transaction and its answer was lost.
  it.each(['invalid_exact_evm_transaction_failed', 'invalid_exact_evm_nonce_already_used'])(
    'never 402 where %s may hide a transaction: it is mined later, once, and brings the answer',
    async reason => {
      const paid = await order(reason);
      service.facilitator.behave({ settles: false, reply: { kind: 'failure', reason } });
      expect(nameOf(await send(gateway, paid))).toBe('503 settlement_pending');
      expect(await claimOf(service.ground, paid)).toMatchObject({ state: 'settling' });
      expect(nameOf(await send(gateway, paid))).toMatch(/^(503 settlement_pending|409 payment_in_flight)$/);
      await submitElsewhere(service.ground, paid);
      const answer = await settledAnswerTo(gateway, paid);
      expect(answer.body.svc).toMatchObject({ settled_by: 'observed_transfer' });
      expect(jwsOf(await send(gateway, paid))).toBe(jwsOf(answer));
      expect(await service.transfersOf(paid)).toHaveLength(1);
    },
  );

  it('402 with its reason before anything is committed, where it does not verify the payment', async () => {
    const paid = await order('Not to be verified');
    service.facilitator.behave({
      ...honest,
      verifies: { kind: 'text', text: '{"isValid":false,"invalidReason":"blocked_address"}' },
    });
    expect(await send(gateway, paid)).toMatchObject({ status: 402, body: { error: 'blocked_address' } });
    expect(service.timesAsked(paid)).toBe(0);
    await expectUsable(paid);
  });
});

describe('a facilitator that cannot be reached', () => {
  it('shows in /health for as long', async () => {
    const health = async () => (await fetch(`${gateway.url}/health`)).json();
    await expect.poll(health).toMatchObject({ status: 'ok', away: [] });
    await service.facilitator.leave();
    await expect.poll(health).toMatchObject({ status: 'degraded', away: ['facilitator'] });
    await service.facilitator.resume();
    await expect.poll(health).toMatchObject({ status: 'ok', away: [] });
  });

  const ways: readonly [what: string, leave: () => Promise<void> | void, back: () => Promise<void> | void][] = [
    ['refuses connections', () => service.facilitator.leave(), () => service.facilitator.resume()],
    ['leaves once it has verified', () => behave({ leaves: true }), () => service.facilitator.resume()],
    ['verifies with 500', () => behave({ verifies: { kind: 'status', status: 500 } }), () => {}],
    ['verifies with what is no JSON', () => behave({ verifies: { kind: 'text', text: '' } }), () => {}],
    ['drops the connection at once', () => behave({ verifies: { kind: 'hang_up' } }), () => {}],
  ];
  it.each(ways)('503, not charged, where it %s; 200 by the same payment once it is back', async (what, leave, back) => {
    const paid = await order(what);
    await leave();
    const away = await send(gateway, paid);
    expect(away).toMatchObject({ status: 503, body: { code: 'facilitator_unavailable', charged: false } });
    expect(away.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(service.timesAsked(paid)).toBe(0);
    expect(await claimOf(service.ground, paid)).toMatchObject({ state: 'released', reason: 'facilitator_unavailable' });
    await back();
    await expectUsable(paid);
  });
});

function behave(unlike: Partial<FacilitatorBehaviour>): void {
  service.facilitator.behave({ ...honest, ...unlike });
}

/** It bought nothing, and buys what it was meant for as soon as it can. */
async function expectUsable(paid: Order): Promise<void> {
  expect(await claimOf(service.ground, paid)).toMatchObject({ state: 'released' });
  expect(await service.transfersOf(paid)).toEqual([]);
  service.facilitator.behave(honest);
  expect((await send(gateway, paid)).status).toBe(200);
  expect(await service.transfersOf(paid)).toHaveLength(1);
}

/** A transaction that is on the chain and did nothing. */
async function revertedTransaction(data: string): Promise<string> {
  const { chain } = service.ground;
  const [from] = await chain.call<string[]>('eth_accounts');
  return chain.call<string>('eth_sendTransaction', {
    from: from ?? '',
    to: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    data,
    gas: '0xa000',
  });
}
