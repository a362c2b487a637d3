import { expect, it } from 'vitest';
import type { FaultPoint } from '../../gateway/operations/faults.ts';
import { audit } from '../harness/faults/audit.ts';
import { type Answer, jwsOf, nameOf, type Order, send } from '../harness/faults/buyer.ts';
import { claimOf, untilAllClosed } from '../harness/faults/claims.ts';
import { eventually, openGround, untilReached } from '../harness/faults/ground.ts';
import { newAgent, startGateways } from '../harness/gateways/trio.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/*
 * Processes are suspended within a transaction, or between its commit and the next step, for longer than their lease. In the meantime
 * another process receives the same payment. When they resume, their callers must get the true outcome or no answer.
 */
type Call = readonly [point: FaultPoint, hears: string];
/** For each process the calls that it holds after a commit, and the call in whose transaction it is suspended. */
const processes: readonly { readonly held: readonly Call[]; readonly asleep: Call }[] = [
  { held: [], asleep: ['in_claim', '200'] },
  { held: [], asleep: ['in_settling', '503 settlement_pending'] },
  {
    held: [
      ['after_broadcast', '503 settlement_pending'],
      ['after_record', '200'],
    ],
    asleep: ['in_record', '503 settlement_pending'],
  },
];

it('a process that slept past its lease does nothing with claims that others took', async () => {
  const ground = await openGround();
  const [healthy] = await startGateways(ground, 1);
  if (!healthy) throw new Error('none started');
  const agent = await newAgent(ground, healthy);

  const sleepers = await Promise.all(
    processes.map(async ({ held, asleep }) => {
      const [point] = asleep;
      const gateway = await ground.startFaulty({ point, held: held.map(([point]) => point), signal: 'SIGSTOP' });
      const calls: { order: Order; answer: Promise<Answer>; expected: string }[] = [];
      for (const [point, hears] of [...held, asleep]) {
        const order = await agent.chat(`outslept ${point}`);
        calls.push({ order, answer: send(gateway, order), expected: hears });
        await untilReached(gateway, point);
      }
      return { gateway, calls };
    }),
  );
  for (const { gateway, calls } of sleepers) {
    const paid = await Promise.all(calls.map(({ order }) => paidAt(healthy, order)));
    const standing = await Promise.all(calls.map(({ order }) => claimOf(ground, order)));
    gateway.process.kill('SIGCONT');
    for (const [index, { order, answer, expected: hears }] of calls.entries()) {
      const woken = await answer;
      expect(nameOf(woken)).toBe(hears);
      if (woken.status === 200) expect(jwsOf(woken)).toBe(paid[index]);
      expect(jwsOf(await send(gateway, order))).toBe(paid[index]);
      expect(await claimOf(ground, order)).toEqual(standing[index]);
    }
  }
  await untilAllClosed(ground);
  expect(await audit(ground)).toBe(1 + sleepers.flatMap(({ calls }) => calls).length);
});

/** The JWS of the order's receipt, once another process returns it. */
function paidAt(healthy: RunningService, order: Order): Promise<string> {
  return eventually('paid elsewhere', async () => {
    const answer = await send(healthy, order);
    return answer.status === 200 ? jwsOf(answer) : null;
  });
}
