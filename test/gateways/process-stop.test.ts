import { beforeAll, describe, expect, it } from 'vitest';
import type { FaultPoint } from '../../gateway/operations/faults.ts';
import { audit } from '../harness/faults/audit.ts';
import { answerTo, jwsOf, nameOf, type Order, send } from '../harness/faults/buyer.ts';
import { claimOf, untilAllClosed } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround, untilReached } from '../harness/faults/ground.ts';
import type { RunningGateway } from '../harness/gateway.ts';
import { type Agent, newAgent, startGateways } from '../harness/gateways/trio.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/*
 * One of three processes is stopped (SIGSTOP) within a transaction, while it holds locks: on claims and a book, on claims and a settlement
 * key, or on claims, the log's head and a book. The server ends its session before the others time out.
 */

/** State of a claim whose transaction was cut off at the point. Undefined if there is none. */
const points: readonly [point: FaultPoint, left: string | undefined][] = [
  ['in_claim', undefined],
  ['in_settling', 'claimed'],
  ['in_record', 'settling'],
];

let ground: Ground;
let healthy: readonly RunningService[];
let sleeper: RunningGateway;
let agent: Agent;

beforeAll(async () => {
  ground = await openGround();
  healthy = await startGateways(ground, 2);
  sleeper = await ground.startFaulty({ point: points.map(([point]) => point), signal: 'SIGSTOP', in_turn: true });
  agent = await newAgent(ground, healthy[0] as RunningService);
});

describe.each(points)('a process stopped %s', (point, left) => {
  it('keeps the others waiting and no more; woken, it goes on and serves, and nothing is doubled', async () => {
    const before = await audit(ground);
    if (point !== points[0]?.[0]) {
      sleeper.process.kill('SIGUSR2');
      await eventually('armed', () => sleeper.logs.includes(`armed at ${point}`) || null);
    }
    const order = await agent.chat(`asleep ${point}`);
    const others: Order[] = [];
    for (let number = 0; number < 20; number++) others.push(await agent.chat(`awake ${point} ${number}`));

    const answer = send(sleeper, order);
    await untilReached(sleeper, point);
    expect((await claimOf(ground, order))?.state).toBe(left);
    const paid = await Promise.all(others.map((one, index) => answerTo(healthy[index % 2] as RunningService, one)));
    expect(paid.map(nameOf)).toEqual(others.map(() => '200'));

    sleeper.process.kill('SIGCONT');
    // On a busy machine the lease has expired by now, and another process completes the call.
    expect(['200', '503 settlement_pending']).toContain(nameOf(await answer));
    const again = await answerTo(sleeper, order);
    expect(jwsOf(await send(healthy[0] as RunningService, order))).toBe(jwsOf(again));
    expect((await send(sleeper, await agent.chat(`awake again ${point}`))).status).toBe(200);
    await untilAllClosed(ground);
    expect(await audit(ground)).toBe(before + others.length + 2);
  });
});
