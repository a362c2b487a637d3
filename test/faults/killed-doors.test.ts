import { beforeAll, describe, expect, it } from 'vitest';
import { otherPaidDoors } from '../harness/doors/other-paid-doors.ts';
import { audit } from '../harness/faults/audit.ts';
import { answerTo, newBuyer, type Order, send, trySend } from '../harness/faults/buyer.ts';
import { deaths, untilClosed } from '../harness/faults/claims.ts';
import { type Ground, openGround } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/*
 * process-deaths.test.ts kills processes during chats and registrations. Here a process dies with a call at every other paid endpoint, all
 * at one point.
 */

let ground: Ground;
let healthy: RunningService;
beforeAll(async () => {
  ground = await openGround({
    image_models: ['test/image'],
    audio_models: ['test/audio'],
    embedding_models: ['test/embedding'],
  });
  healthy = await ground.start();
});

// The points between these are left out, because a whole batch of calls is held there as one.
const points = deaths.filter(([point]) =>
  ['after_claim', 'after_work', 'before_record', 'after_record'].includes(point),
);

describe.each(points)('a process killed %s', (point, left) => {
  it(`leaves each of its payments ${left}; each brings one answer, again and again, for one transfer`, async () => {
    const before = await audit(ground);
    const buyer = await newBuyer(ground);
    const orders: Order[] = [];
    for (const { path, request } of otherPaidDoors) orders.push(await buyer.pay(path, request(buyer, point)));
    const dying = await ground.startDying({ plan: { point, reached: orders.length } });
    const lost = orders.map(order => trySend(dying, order));
    await dying.died;
    expect(await Promise.all(lost)).toEqual(orders.map(() => null));
    await dying.endLease();

    for (const order of orders) {
      expect(await untilClosed(ground, order)).toMatchObject({ state: left });
      const first = await answerTo(healthy, order);
      expect(first.status).toBe(200);
      const again = await send(healthy, order);
      expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
      // These two members are computed for each answer: how it was settled, and whether the anchor on Base has changed.
      const computed = { settlement_status: null, anchor_changed_since_binding: null };
      const svc = (answer: typeof first) => ({ ...(answer.body.svc as object), ...computed });
      expect({ ...again.body, svc: svc(again) }).toEqual({ ...first.body, svc: svc(first) });
    }
    expect(await audit(ground)).toBe(before + orders.length);
  });
});
