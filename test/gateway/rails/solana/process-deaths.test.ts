import { beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../harness/faults/audit.ts';
import { jwsOf, send, trySend } from '../../../harness/faults/buyer.ts';
import { deaths, untilClosed } from '../../../harness/faults/claims.ts';
import { type Ground, openGround, untilReached } from '../../../harness/faults/ground.ts';
import { newSolanaBuyer } from '../../../harness/solana/orders.ts';
import type { RunningService } from '../../../harness/worker-gateway.ts';

/*
 * Two processes on one database and one Solana. One of them is killed (SIGKILL) while a call is at a point; the other finishes it or
 * releases its payment.
 */

let ground: Ground;
let healthy: RunningService;
let buyer: Awaited<ReturnType<typeof newSolanaBuyer>>;

beforeAll(async () => {
  ground = await openGround({ solana: true });
  healthy = await ground.start();
  buyer = await newSolanaBuyer(ground);
});

describe.each(deaths)('a process killed %s', (point, left) => {
  it(`leaves a payment on Solana ${left}, and it is charged once`, async () => {
    const before = await audit(ground);
    const dying = await ground.startDying({ plan: { point } });
    const chat = await buyer.chat(point);
    const lost = trySend(dying, chat);
    await untilReached(dying, point);
    await dying.died;
    expect(await lost).toBeNull();
    await dying.endLease();

    expect(await untilClosed(ground, chat)).toMatchObject({ state: left });
    expect(await audit(ground)).toBe(before + (left === 'recorded' ? 1 : 0));
    const again = await send(healthy, chat);
    expect(again.status).toBe(200);
    expect(again.headers.get('x-svc-settlement-status')).toBe(left === 'recorded' ? 'idempotent_replay' : 'settled');
    expect(jwsOf(await send(healthy, chat))).toBe(jwsOf(again));
    expect(await audit(ground)).toBe(before + 1);
  });
});
