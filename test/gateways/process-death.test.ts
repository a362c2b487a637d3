import { beforeAll, expect, it } from 'vitest';
import { audit } from '../harness/faults/audit.ts';
import { oneTo } from '../harness/faults/audit-books.ts';
import { jwsOf, type Order, send, trySend } from '../harness/faults/buyer.ts';
import { claimOf, deaths, untilAllClosed, untilClosed } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround, untilReached } from '../harness/faults/ground.ts';
import { type Agent, listenAt, newAgent, startGateways } from '../harness/gateways/trio.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* One of three processes dies with calls in every state. The two others complete what it left. */

let ground: Ground;
let healthy: readonly RunningService[];
let agent: Agent;

beforeAll(async () => {
  ground = await openGround();
  healthy = await startGateways(ground, 2);
  agent = await newAgent(ground, healthy[0] as RunningService);
});

it('what a process left in every state is finished by the others, each once, and its holds are given back', async () => {
  const heard = healthy.map(gateway => listenAt(gateway, agent));
  const dying = await ground.startDying({ plan: { point: deaths.map(([point]) => point), signal: 'none' } });
  const left: { order: Order; state: 'released' | 'recorded'; lost: Promise<unknown> }[] = [];
  for (const [point, state] of deaths) {
    const order = await agent.chat(`left ${point}`);
    left.push({ order, state, lost: trySend(dying, order) });
    await untilReached(dying, point);
  }
  expect((await book()).reserved_atomic).toBeGreaterThan(0n);
  await dying.kill();
  await dying.endLease();
  expect(await Promise.all(left.map(({ lost }) => lost))).toEqual(left.map(() => null));

  for (const { order, state } of left) expect(await untilClosed(ground, order)).toMatchObject({ state });
  await untilAllClosed(ground);
  expect((await book()).reserved_atomic).toBe(0n);
  const recorded = left.filter(({ state }) => state === 'recorded');
  expect(await audit(ground)).toBe(1 + recorded.length);
  for (const { order } of recorded) expect(await eventsOf(order)).toEqual(['born']);

  for (const { order } of left) {
    const [one, other] = await Promise.all(healthy.map(gateway => settled(gateway, order)));
    expect(other).toBe(one);
  }
  expect(await audit(ground)).toBe(1 + left.length);
  const { position } = await book();
  await eventually('all heard', () => heard.every(({ length }) => length >= position) || null);
  for (const events of heard) expect(events.map(event => event.position)).toEqual(oneTo(position));
});

async function book(): Promise<{ reserved_atomic: bigint; position: number }> {
  const [found] = await ground.database.query<{ reserved_atomic: bigint; position: number }>({
    text: 'select reserved_atomic, position from book where agent_id = $1',
    values: [agent.agent_id],
  });
  if (!found) throw new Error(`no book ${agent.agent_id}`);
  return found;
}

async function eventsOf(order: Order): Promise<readonly string[]> {
  const claim = await claimOf(ground, order);
  const events = await ground.database.query<{ kind: string }>({
    text: 'select kind from book_event where task_id = $1 order by position',
    values: [claim?.task_id],
  });
  return events.map(({ kind }) => kind);
}

/** The JWS of the receipt, once no other process is working on the payment. */
async function settled(gateway: RunningService, order: Order): Promise<string> {
  for (;;) {
    const answer = await send(gateway, order);
    if (answer.status === 200) return jwsOf(answer);
    expect(answer).toMatchObject({ status: 409, body: { code: 'payment_in_flight' } });
  }
}
