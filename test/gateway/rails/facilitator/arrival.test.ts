import { randomBytes } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { verifyReceipt } from '../../../../subgraphs/receipt/verify/receipt.ts';
import { payingFetch, registrationOf } from '../../../harness/buyer.ts';
import { askToStream, listen } from '../../../harness/doors/listen.ts';
import {
  auditArrivals,
  type FacilitatorService,
  openFacilitatorService,
  registeredBuyer,
  settledAnswerTo,
} from '../../../harness/facilitator/open-service.ts';
import { honest } from '../../../harness/facilitator.ts';
import { type Answer, jwsOf, nameOf, newBuyer, type Order, send } from '../../../harness/faults/buyer.ts';
import { claimOf } from '../../../harness/faults/claims.ts';
import { eventually } from '../../../harness/faults/ground.ts';
import type { RunningService } from '../../../harness/worker-gateway.ts';

/*
 * A facilitator says that a payment has settled, while the chain is unreachable or does not show it: the caller gets its answer, and book
 * and receipt follow the chain as soon as it answers.
 */

let service: FacilitatorService;
let gateway: RunningService;
let buyer: Awaited<ReturnType<typeof registeredBuyer>>;

beforeAll(async () => {
  service = await openFacilitatorService();
  gateway = await service.startPollingFast();
  buyer = await registeredBuyer(service, gateway);
});

afterEach(async () => {
  service.gate.open();
  service.facilitator.behave(honest);
  await auditArrivals(service);
});

const nonsense = () => `0x${randomBytes(32).toString('hex')}`;
const taskOf = ({ body }: Answer) => (body.svc as { task_id: string }).task_id;

async function get(path: string, headers: Record<string, string> = {}): Promise<JsonObject> {
  return (await (await fetch(gateway.url + path, { headers })).json()) as JsonObject;
}

interface Book {
  readonly entries: readonly JsonObject[];
  readonly totals: { readonly count: number; readonly usdc_sum: string; readonly pending_usdc_sum: string };
  readonly spent: string;
  readonly pending: string;
}

async function book(): Promise<Book> {
  return (await get(`/v1/agents/${buyer.agent_id}/book`, { 'x-svc-session': buyer.session })) as unknown as Book;
}

async function entryOf(task_id: string): Promise<JsonObject | undefined> {
  return (await book()).entries.find(entry => entry.task_id === task_id);
}

const outcomeOf = async (task_id: string) => (await get(`/task-status?task_id=${task_id}`)).proof_outcome;

function becomes(task_id: string, outcome: string): Promise<true> {
  return eventually(outcome, async () => (await outcomeOf(task_id)) === outcome || null);
}

/** The facilitator settles, and from then on the chain is unreachable. */
function settleUnseen(settles = true): void {
  const says = settles ? ({ kind: 'the_truth' } as const) : ({ kind: 'success', transaction: nonsense() } as const);
  service.facilitator.behave({ settles, reply: says, meanwhile: service.cutOnce() });
}

async function sendUnseen(order: Order, settles = true): Promise<Answer> {
  settleUnseen(settles);
  return settledAnswerTo(gateway, order);
}

async function expectVerified(task_id: string, jws: string, lane: JsonObject): Promise<void> {
  const receipt = await get(`/receipt/${task_id}`);
  expect(receipt).toMatchObject(lane);
  expect((receipt.issuer_signature as JsonObject).jws).toBe(jws);
  expect((receipt.payload as JsonObject).settlement_basis).toBe('receipt');
  expect(verifyReceipt(receipt, await get('/.well-known/jwks.json'))).toMatchObject({ kind: 'valid' });
}

async function transitionsOf(task_id: string): Promise<readonly JsonObject[]> {
  const text = `select kind, body from book_event where task_id = $1 and kind <> 'replay' order by position`;
  return service.ground.database.query<{ kind: string; body: JsonObject }>({ text, values: [task_id] });
}

describe('a payment that was vouched for while the chain was away', () => {
  it('200, RECORDED_BY_SETTLE and counted; collected once the transfer is seen, with not a signed byte changed', async () => {
    const before = await book();
    const order = await buyer.chat('Trust me');
    const answer = await sendUnseen(order);
    const task_id = taskOf(answer);
    expect(answer.body.svc).toMatchObject({ settled_by: 'receipt', proof_outcome: 'pending' });
    expect(answer.headers.get('x-svc-proof-outcome')).toBe('pending');
    expect(answer.headers.get('x-svc-settlement-status')).toBe('settled');
    expect(await entryOf(task_id)).toMatchObject({
      evidence: 'RECORDED_BY_SETTLE',
      collected: false,
      recorded_by: 'settle',
      arrival_status: 'pending',
      payment: { amount: '2000' },
    });
    expect(await book()).toMatchObject({ spent: before.spent, pending: '2000', totals: { pending_usdc_sum: '2000' } });
    expect(await outcomeOf(task_id)).toBe('pending');
    expect(jwsOf(await send(gateway, order))).toBe(jwsOf(answer));
    await expectVerified(task_id, jwsOf(answer), { settled_by: 'receipt', proof_outcome: 'pending' });

    service.gate.open();
    await becomes(task_id, 'settled');
    const [transfer] = await service.transfersOf(order).then(all => all.slice(-1));
    const ref = `base:${transfer?.tx_hash}`;
    expect(await entryOf(task_id)).toMatchObject({
      evidence: 'collected',
      collected: true,
      recorded_by: 'settle',
      arrival_status: 'confirmed',
      payment: { ref, amount: '2000' },
      ingress_receipt: { ref, confirmed_at: expect.any(String) },
      replay_count: 1,
    });
    await expectVerified(task_id, jwsOf(answer), {
      settled_by: 'observed_transfer',
      proof_outcome: 'settled',
      ingress_receipt: { ref, confirmed_at: expect.any(String) },
    });
    expect(await transitionsOf(task_id)).toMatchObject([
      { kind: 'born', body: { evidence: 'RECORDED_BY_SETTLE', collected: false } },
      { kind: 'transition', body: { evidence: 'collected', collected: true } },
    ]);
    const after = await book();
    expect(BigInt(after.spent) - BigInt(before.spent)).toBe(2000n);
    expect(after).toMatchObject({ pending: '0', totals: { pending_usdc_sum: '0' } });
    expect(after.totals.count - before.totals.count).toBe(1);
    expect(jwsOf(await send(gateway, order))).toBe(jwsOf(answer));
  });

  it('has a receipt without a book that follows likewise', async () => {
    const order = await (await newBuyer(service.ground)).chat('Nobody in particular');
    const answer = await sendUnseen(order);
    const task_id = taskOf(answer);
    await expectVerified(task_id, jwsOf(answer), { settled_by: 'receipt', proof_outcome: 'pending' });
    service.gate.open();
    await becomes(task_id, 'settled');
    await expectVerified(task_id, jwsOf(answer), { settled_by: 'observed_transfer', proof_outcome: 'settled' });
    expect(await service.transfersOf(order)).toHaveLength(1);
  });

  it('lets a stream go out; what its last chunk calls pending is settled later', async () => {
    const payer = await service.ground.chain.newWallet();
    settleUnseen();
    const stream = await listen(gateway, askToStream('In pieces'), { by: payingFetch(payer) });
    expect(stream.status).toBe(200);
    const { ends_well, svc } = await stream.rest();
    expect(ends_well).toBe(true);
    expect(svc).toMatchObject({ settled_by: 'receipt', proof_outcome: 'pending' });
    service.gate.open();
    await becomes(svc?.task_id ?? '', 'settled');
  });

  it('is collected by the transfer that is there, where another transaction was named', async () => {
    const order = await buyer.chat('Misnamed');
    const says = { kind: 'success', transaction: nonsense() } as const;
    service.facilitator.behave({ settles: true, reply: says, meanwhile: service.cutOnce() });
    const answer = await send(gateway, order);
    const task_id = taskOf(answer);
    expect(answer.body.svc).toMatchObject({ payment_ref: `base:${says.transaction}`, proof_outcome: 'pending' });
    service.gate.open();
    await becomes(task_id, 'settled');
    const [transfer] = (await service.transfersOf(order)).slice(-1);
    const ref = `base:${transfer?.tx_hash}`;
    expect(await entryOf(task_id)).toMatchObject({ evidence: 'collected', payment: { ref }, ingress_receipt: { ref } });
    await expectVerified(task_id, jwsOf(answer), { ingress_receipt: { ref } });
    const told = (await send(gateway, order)).headers.get('x-payment-response') ?? '';
    expect(JSON.parse(Buffer.from(told, 'base64').toString())).toMatchObject({ transaction: transfer?.tx_hash });
  });

  it('registers nobody by its receipt until it is collected: 403 receipt_not_qualifying, then 200', async () => {
    const payer = await service.ground.chain.newWallet();
    const order = await (await newBuyer(service.ground, payer)).chat('To be registered by');
    service.facilitator.behave({ settles: false, reply: { kind: 'success', transaction: nonsense() } });
    const task_id = taskOf(await send(gateway, order));
    const register = async () => {
      const response = await fetch(`${gateway.url}/v1/agents/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(await registrationOf(payer, { task_id })),
      });
      return { status: response.status, body: await response.json() };
    };
    expect(await register()).toMatchObject({ status: 403, body: { code: 'receipt_not_qualifying' } });
    service.facilitator.behave(honest);
    await becomes(task_id, 'settled');
    expect(await register()).toMatchObject({ status: 200, body: { agentWallet: payer.address } });
  });

  it('does not register anybody until it was seen: 503, and 200 to the same payment afterwards', async () => {
    const newcomer = await newBuyer(service.ground);
    const registration = await newcomer.registration();
    settleUnseen();
    expect(nameOf(await send(gateway, registration))).toBe('503 settlement_pending');
    expect(await claimOf(service.ground, registration)).toMatchObject({ state: 'settling' });
    service.gate.open();
    const answer = await settledAnswerTo(gateway, registration);
    expect(answer.body).toMatchObject({ agentWallet: newcomer.address, settlement_status: 'idempotent_replay' });
    expect(await service.transfersOf(registration)).toHaveLength(1);
  });
});

describe('a payment that was vouched for before the chain shows it', () => {
  it('is handed over again, and collected once it has settled', async () => {
    const order = await (await newBuyer(service.ground)).chat('Patience');
    service.facilitator.behave({ settles: false, reply: { kind: 'success', transaction: nonsense() } });
    const answer = await send(gateway, order);
    expect(answer).toMatchObject({ status: 200, body: { svc: { proof_outcome: 'pending' } } });
    service.facilitator.behave(honest);
    await becomes(taskOf(answer), 'settled');
    expect(service.timesAsked(order)).toBeGreaterThan(1);
    expect(await service.transfersOf(order)).toHaveLength(1);
  });
});

describe('a payment that was vouched for and never came', () => {
  it('is ARRIVAL_UNVERIFIED at the cutoff: its amount is null and out of every sum', async () => {
    const before = await book();
    const order = await buyer.chat('Never seen');
    const answer = await sendUnseen(order, false);
    const task_id = taskOf(answer);
    expect(await book()).toMatchObject({ spent: before.spent, pending: '2000' });

    const text = `update payment_claim set valid_before = extract(epoch from now())::int - 3600 where task_id = $1`;
    await service.ground.database.query({ text, values: [task_id] });
    // While the chain is unreachable, it is unknown whether the transfer was made, so the service keeps searching for it.
    const looks = async () => {
      const looked = 'select looked_at, arrival from payment_claim where task_id = $1';
      const [claim] = await service.ground.database.query<JsonObject>({ text: looked, values: [task_id] });
      return claim;
    };
    await service.ground.database.query({
      text: `update payment_claim set looked_at = null where task_id = $1`,
      values: [task_id],
    });
    await eventually('looked for again', async () => ((await looks())?.looked_at ?? null) !== null || null);
    expect(await looks()).toMatchObject({ arrival: 'pending' });
    expect(await outcomeOf(task_id)).toBe('pending');
    service.gate.open();
    await becomes(task_id, 'unverified');
    const omission_rule = 'no_ingress_receipt_at_cutoff';
    await expectUnverified(task_id, jwsOf(answer), omission_rule);
    expect(await book()).toMatchObject({ spent: before.spent, totals: before.totals });
    expect(await transitionsOf(task_id)).toMatchObject([
      { kind: 'born', body: { evidence: 'RECORDED_BY_SETTLE', amount: '2000' } },
      { kind: 'transition', body: { evidence: 'ARRIVAL_UNVERIFIED', amount: null, omission_rule } },
    ]);
    expect(jwsOf(await send(gateway, order))).toBe(jwsOf(answer));

    // An expired answer is not produced again, because nothing was paid.
    await service.ground.database.query({
      text: 'update payment_claim set answer_box = null where task_id = $1',
      values: [task_id],
    });
    expect(nameOf(await send(gateway, order))).toBe('410 answer_gone');
  });

  it('is so as soon as the finalized chain can take it no more', async () => {
    const order = await buyer.chat('Expired unused');
    const moved = await service.transfersOf(order);
    const answer = await sendUnseen(order, false);
    const task_id = taskOf(answer);
    service.facilitator.behave({ settles: false, reply: { kind: 'failure', reason: 'unexpected_settle_error' } });
    service.gate.open();
    // The chain's own time decides: the payment was valid for five minutes.
    await service.ground.chain.passTime(360);
    await service.ground.chain.mine(70);
    await becomes(task_id, 'unverified');
    await expectUnverified(task_id, jwsOf(answer), 'authorization_expired_unused');
    expect(await service.transfersOf(order)).toEqual(moved);
  });
});

async function expectUnverified(task_id: string, jws: string, omission_rule: string): Promise<void> {
  expect(await entryOf(task_id)).toMatchObject({
    evidence: 'ARRIVAL_UNVERIFIED',
    collected: false,
    arrival_status: 'unverified',
    omission_rule,
    payment: { amount: null },
  });
  await expectVerified(task_id, jws, { settled_by: 'receipt', proof_outcome: 'unverified', omission_rule });
}
