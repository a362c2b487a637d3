import { expect, it } from 'vitest';
import type { FaultPoint } from '../../gateway/operations/faults.ts';
import { audit } from '../harness/faults/audit.ts';
import { jwsOf, newBuyer, send } from '../harness/faults/buyer.ts';
import { closed } from '../harness/faults/claims.ts';
import { openGround, reached } from '../harness/faults/ground.ts';

/** Where processes fall asleep for longer than their lease: stopped by a debugger, a paused machine, a stalled disk. */
const points: readonly [point: FaultPoint, left: 'released' | 'recorded'][] = [
  ['after_claim', 'released'],
  ['after_work', 'released'],
  ['after_settling', 'recorded'],
  ['before_record', 'recorded'],
];

it('processes that sleep past their lease charge nothing when they wake up', async () => {
  const ground = await openGround();
  const healthy = await ground.start();
  const buyer = await newBuyer(ground);
  expect((await send(healthy, await buyer.registration())).status).toBe(200);

  const sleepers = await Promise.all(
    points.map(async ([point, left]) => {
      const gateway = await ground.startFaulty({ point, signal: 'SIGSTOP' });
      const order = await buyer.chat(point);
      const answer = send(gateway, order);
      await reached(gateway, point);
      return { gateway, order, answer, left };
    }),
  );
  for (const { gateway, order, answer, left } of sleepers) {
    expect(await closed(ground, order)).toMatchObject({ state: left });
    const paid = await send(healthy, order);
    expect(paid.status).toBe(200);

    gateway.process.kill('SIGCONT');
    // It cannot know what the other has done with the payment, and must not say that a new one is needed.
    expect(await answer).toMatchObject({ status: 503, body: { code: 'settlement_pending' } });
    expect(jwsOf(await send(gateway, order))).toBe(jwsOf(paid));
  }
  expect(await audit(ground)).toBe(1 + points.length);
});
