import { expect, it } from 'vitest';
import type { FaultPoint } from '../../gateway/operations/faults.ts';
import { audit } from '../harness/faults/audit.ts';
import { type Answer, jwsOf, newBuyer, type Order, send } from '../harness/faults/buyer.ts';
import { untilClosed } from '../harness/faults/claims.ts';
import { openGround, untilReached } from '../harness/faults/ground.ts';

/**
 * Points at which calls are held while a process is suspended for longer than its lease, for example by a debugger, a paused machine or a
 * stalled disk.
 */
const points: readonly [point: FaultPoint, left: 'released' | 'recorded'][] = [
  ['after_claim', 'released'],
  ['after_work', 'released'],
  ['after_settling', 'recorded'],
  ['before_record', 'recorded'],
];

it('a process that sleeps past its lease charges nothing when it wakes up, wherever its calls stand', async () => {
  const ground = await openGround();
  const healthy = await ground.start();
  const buyer = await newBuyer(ground);
  expect((await send(healthy, await buyer.registration())).status).toBe(200);

  const sleeper = await ground.startFaulty({ point: points.map(([point]) => point), signal: 'none' });
  const calls: { order: Order; answer: Promise<Answer>; left: string }[] = [];
  for (const [point, left] of points) {
    const order = await buyer.chat(point);
    calls.push({ order, answer: send(sleeper, order), left });
    await untilReached(sleeper, point);
  }
  sleeper.process.kill('SIGSTOP');
  const paid = new Map<Order, string>();
  for (const { order, left } of calls) {
    expect(await untilClosed(ground, order)).toMatchObject({ state: left });
    const answer = await send(healthy, order);
    expect(answer.status).toBe(200);
    paid.set(order, jwsOf(answer));
  }

  sleeper.process.kill('SIGCONT');
  for (const { order, answer } of calls) {
    // This process cannot know what the other one did with the payment, and must not answer that a new one is needed.
    expect(await answer).toMatchObject({ status: 503, body: { code: 'settlement_pending' } });
    expect(jwsOf(await send(sleeper, order))).toBe(paid.get(order));
  }
  expect(await audit(ground)).toBe(1 + points.length);
});
