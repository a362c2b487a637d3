import { expect, it } from 'vitest';
import type { FaultPoint } from '../../gateway/operations/faults.ts';
import { audit } from '../harness/faults/audit.ts';
import { jwsOf, nameOf, send } from '../harness/faults/buyer.ts';
import { allClosed, claimOf } from '../harness/faults/claims.ts';
import { eventually, openGround, reached } from '../harness/faults/ground.ts';
import { newAgent, startGateways } from '../harness/gateways/trio.ts';

/*
 * Processes stopped in the midst of a transaction, or between its commit and what comes of it, for longer than their
 * lease: meanwhile the same payment is sent to another. What they hear when they wake up is the one truth, or nothing.
 */
const points: readonly [point: FaultPoint, hears: string][] = [
  ['in_claim', '200'],
  ['in_settling', '503 settlement_pending'],
  ['after_broadcast', '503 settlement_pending'],
  ['in_record', '503 settlement_pending'],
  ['after_record', '200'],
];

it('a process that slept past its lease does nothing with claims that others took', async () => {
  const ground = await openGround();
  const [healthy] = await startGateways(ground, 1);
  if (!healthy) throw new Error('none started');
  const agent = await newAgent(ground, healthy);

  const sleepers = await Promise.all(
    points.map(async ([point, hears]) => {
      const gateway = await ground.startFaulty({ point, signal: 'SIGSTOP' });
      const order = await agent.chat(`outslept ${point}`);
      const answer = send(gateway, order);
      await reached(gateway, point);
      return { gateway, order, answer, hears };
    }),
  );
  for (const { gateway, order, answer, hears } of sleepers) {
    const paid = await eventually('paid elsewhere', async () => {
      const told = await send(healthy, order);
      return told.status === 200 ? told : null;
    });
    const standing = await claimOf(ground, order);
    gateway.process.kill('SIGCONT');
    const woken = await answer;
    expect(nameOf(woken)).toBe(hears);
    if (woken.status === 200) expect(jwsOf(woken)).toBe(jwsOf(paid));
    expect(jwsOf(await send(gateway, order))).toBe(jwsOf(paid));
    expect(await claimOf(ground, order)).toEqual(standing);
  }
  await allClosed(ground);
  expect(await audit(ground)).toBe(1 + points.length);
});
