import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { audit } from '../harness/faults/audit.ts';
import { newBuyer, type Order, send, submitElsewhere, trySend } from '../harness/faults/buyer.ts';
import { claimOf, closed } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround, reached } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/** Long enough to be sent twice before it expires, on a busy machine. */
const SHORT_SECONDS = 20;

let ground: Ground;
let gateway: RunningService;
let buyer: Awaited<ReturnType<typeof newBuyer>>;
let owner: { readonly agent_id: number; readonly session: string };

beforeAll(async () => {
  ground = await openGround();
  gateway = await ground.start();
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

describe('a payment whose call the book refused', () => {
  it('and which somebody else then submits is owed its answer: the money has moved, whatever the book allows', async () => {
    const order = await refusedOrder('one');
    await submitElsewhere(ground, order);
    expect((await send(gateway, order)).status).toBe(200);
    expect(await evidenceOf(order)).toBe('collected');
    expect((await claimOf(ground, order))?.task_id).not.toBe(order.task_id);
    expect(await audit(ground)).toBe(2);
  });

  it('would have been refused, but that somebody else had submitted it before: it is served, and in the sums', async () => {
    const order = await buyer.chat('two');
    await submitElsewhere(ground, order);
    expect((await send(gateway, order)).status).toBe(200);
    expect(await audit(ground)).toBe(3);
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
    await sleep(unused.authorization.valid_before_seconds * 1_000 - Date.now());
    await eventually('recorded', async () => (await closed(ground, used)).state === 'recorded' || null);
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
    await reached(doomed, 'after_claim');
    await dying;
    // 8000 are collected, and 2000 are held by a dead process.
    const held = await buyer.chat('seven');
    const first = await send(gateway, held);
    expect([200, 403]).toContain(first.status);
    await doomed.endLease();
    expect((await closed(ground, order)).state).toBe('released');
    const again = first.status === 200 ? first : await send(gateway, await buyer.chat('eight'));
    expect(again.status).toBe(200);
    expect(await send(gateway, await buyer.chat('nine'))).toMatchObject({ status: 403 });
    expect(await audit(ground)).toBe(5);
  });
});
