import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { audit } from '../harness/faults/audit.ts';
import { newBuyer, type Order, send, submitElsewhere, trySend } from '../harness/faults/buyer.ts';
import { claimOf, expire, untilClosed } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround, untilReached } from '../harness/faults/ground.ts';
import { movableClock } from '../harness/movable-clock.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/**
 * Validity of a payment that is to expire: shorter than that of the others, but long enough on a busy machine to be sent twice before it
 * expires.
 */
const SHORT_SECONDS = 150;

const clock = movableClock();

let ground: Ground;
let gateway: RunningService;
let buyer: Awaited<ReturnType<typeof newBuyer>>;
let owner: { readonly agent_id: number; readonly session: string };

beforeAll(async () => {
  ground = await openGround();
  gateway = await ground.start({ options: { clock } });
  buyer = await newBuyer(ground);
  const { body } = await send(gateway, await buyer.registration());
  owner = body as unknown as typeof owner;
  await policy({ policy_type: 'kill_switch', value: true });
});

async function policy(change: JsonObject): Promise<void> {
  const answer = await fetch(`${gateway.url}/v1/agents/${owner.agent_id}/book/policy`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ session: owner.session, ...change }),
  });
  expect(answer.status).toBe(200);
}

async function refusedOrder(prompt: string, valid_seconds?: number): Promise<Order & { readonly task_id: string }> {
  const order = await buyer.chat(prompt, valid_seconds);
  const { status, body } = await send(gateway, order);
  expect({ status, code: body.code, charged: body.charged }).toEqual({
    status: 403,
    code: 'policy_blocked',
    charged: false,
  });
  expect(await claimOf(ground, order)).toMatchObject({ state: 'released', reason: 'blocked', task_id: body.task_id });
  return { ...order, task_id: String(body.task_id) };
}

const evidenceOf = async (order: Order) => {
  const claim = await claimOf(ground, order);
  const [row] = await ground.database.query<{ evidence: string }>({
    text: 'select evidence from book_row where task_id = $1',
    values: [claim?.task_id],
  });
  return row?.evidence;
};

/** Expects the 403 for a payment that has moved. It must not be a signed refusal, because that states that nothing was charged. */
async function stopped(order: Order): Promise<string> {
  const { status, body } = await send(gateway, order);
  const { task_id, verify_url } = body as Readonly<Record<string, string>>;
  expect({ status, ...body }).toMatchObject({ status: 403, code: 'kill_switch_resend', charged: true });
  expect(body).not.toHaveProperty('signature');
  const path = `/receipt/${task_id}`;
  expect(new URL(String(verify_url)).pathname).toBe(path);
  expect((await fetch(`${gateway.url}${path}.json`)).status).toBe(200);
  return String(task_id);
}

async function dispute(task_id: string): Promise<JsonObject> {
  const { session, agent_id } = owner;
  const answer = await fetch(`${gateway.url}/v1/agents/${agent_id}/book/dispute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ session, task_id, claim_type: 'output_missing' }),
  });
  return (await answer.json()) as JsonObject;
}

describe('a payment whose call the book refused', () => {
  it('and which somebody else then submits is recorded, and owed its answer: under the kill switch no work is done for it', async () => {
    const order = await refusedOrder('one');
    await submitElsewhere(ground, order);
    const before = ground.hub.requests.length;
    for (let sent = 0; sent < 2; sent++) expect(await stopped(order)).not.toBe(order.task_id);
    expect(ground.hub.requests).toHaveLength(before);
    expect(await evidenceOf(order)).toBe('collected');
    const task_id = String((await claimOf(ground, order))?.task_id);
    expect(await audit(ground)).toBe(2);

    // The payment is not refunded meanwhile, because it may still bring the answer. After the kill switch is lifted, it does.
    const open = await dispute(task_id);
    expect(open).toMatchObject({ outcome: null, reason: 'answer_still_owed', decides_after: expect.any(String) });
    await policy({ policy_type: 'kill_switch', value: null });
    expect((await send(gateway, order)).status).toBe(200);
    expect(await dispute(task_id)).toMatchObject({
      dispute_id: open.dispute_id,
      outcome: 'stand',
      reason: 'answered_on_resend',
      revision: 2,
    });
    await policy({ policy_type: 'kill_switch', value: true });
    // An answer that was stored is still delivered.
    expect((await send(gateway, order)).status).toBe(200);
  });

  it('would have been refused, but that somebody else had submitted it before: it is recorded, and in the sums', async () => {
    const order = await buyer.chat('two');
    await submitElsewhere(ground, order);
    const task_id = await stopped(order);
    expect(await audit(ground)).toBe(3);

    // A day later it is refunded for good, and the same payment no longer brings an answer.
    await ground.database.query({
      text: `update payment_claim set moved_at = now() - interval '25 hours' where task_id = $1`,
      values: [task_id],
    });
    expect(await dispute(task_id)).toMatchObject({ outcome: 'refund', reason: 'no_output', final: true });
    await policy({ policy_type: 'kill_switch', value: null });
    expect(await send(gateway, order)).toMatchObject({ status: 410, body: { code: 'answer_gone' } });
    await policy({ policy_type: 'kill_switch', value: true });
  });

  it('stands nowhere but as refused for as long as nobody submits it', async () => {
    const order = await refusedOrder('three');
    expect((await send(gateway, order)).body).toMatchObject({ task_id: order.task_id });
    expect(await evidenceOf(order)).toBe('policy_blocked');
    expect(await audit(ground)).toBe(3);
  });
});

describe('a refused payment that has expired', () => {
  it('is recorded under a task of its own where somebody used it after all', async () => {
    const used = await refusedOrder('four', SHORT_SECONDS);
    const unused = await refusedOrder('five', SHORT_SECONDS);
    await submitElsewhere(ground, used);
    await expire(ground, clock, SHORT_SECONDS);
    await eventually('recorded', async () => (await untilClosed(ground, used)).state === 'recorded' || null);
    expect((await claimOf(ground, used))?.task_id).not.toBe(used.task_id);
    expect(await evidenceOf(used)).toBe('collected');

    await eventually('final and forgotten, or final', async () => {
      await ground.chain.mine();
      const text = 'select 1 from payment_claim where claim_key = $1 and final';
      return (await ground.database.query({ text, values: [unused.claim_key] }))[0] ?? null;
    });
    expect(await audit(ground)).toBe(4);
  });
});

describe('a process that dies between the claim and the work', () => {
  it('leaves nothing held: the cap has room again', async () => {
    await policy({ policy_type: 'kill_switch', value: null });
    await policy({ policy_type: 'daily_cap', value: '10000' });
    const doomed = await ground.startDying({ plan: { point: 'after_claim' } });
    const order = await buyer.chat('six');
    const dying = trySend(doomed, order);
    await untilReached(doomed, 'after_claim');
    await dying;
    // 8,000 atomic units are collected, and the dead process has reserved 2,000.
    const held = await buyer.chat('seven');
    const first = await send(gateway, held);
    expect([200, 403]).toContain(first.status);
    await doomed.endLease();
    expect((await untilClosed(ground, order)).state).toBe('released');
    const again = first.status === 200 ? first : await send(gateway, await buyer.chat('eight'));
    expect(again.status).toBe(200);
    expect(await send(gateway, await buyer.chat('nine'))).toMatchObject({ status: 403 });
    expect(await audit(ground)).toBe(5);
  });
});
