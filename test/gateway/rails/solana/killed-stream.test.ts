import { beforeAll, describe, expect, it } from 'vitest';
import type { FaultPoint } from '../../../../gateway/operations/faults.ts';
import { audit } from '../../../harness/faults/audit.ts';
import { untilClosed } from '../../../harness/faults/claims.ts';
import { type Ground, openGround, untilReached } from '../../../harness/faults/ground.ts';
import { newSolanaBuyer } from '../../../harness/solana/orders.ts';
import type { RunningService } from '../../../harness/worker-gateway.ts';

let ground: Ground;
let healthy: RunningService;

beforeAll(async () => {
  ground = await openGround({ solana: true });
  healthy = await ground.start();
});

/** A stream is paid before it begins. */
const deaths: readonly [point: FaultPoint, left: 'released' | 'recorded'][] = [
  ['after_claim', 'released'],
  ['after_settling', 'recorded'],
  ['after_broadcast', 'recorded'],
  ['mid_stream', 'recorded'],
];

describe.each(deaths)('a process killed %s of a stream', (point, left) => {
  it(`leaves its payment on Solana ${left}, and it is charged once`, async () => {
    const before = await audit(ground);
    const dying = await ground.startDying({ plan: { point } });
    const order = await (await newSolanaBuyer(ground)).stream(point);
    const { path, body, payment } = order;
    const request = { method: 'POST', headers: { 'content-type': 'application/json', 'x-payment': payment }, body };
    const spoken = Promise.withResolvers<void>();
    ground.hub.behave({ kind: 'answer', in_stream: { after_words: 2, does: spoken.promise } });
    const lost = fetch(dying.url + path, request).then(
      answer => {
        spoken.resolve();
        return answer.text().catch(() => null);
      },
      () => null,
    );
    await untilReached(dying, point);
    await dying.died;
    expect(await lost).toBeNull();
    await dying.endLease();
    ground.hub.behave({ kind: 'answer' });

    expect(await untilClosed(ground, order)).toMatchObject({ state: left });
    expect(await audit(ground)).toBe(before + (left === 'recorded' ? 1 : 0));
    const again = await fetch(healthy.url + path, request);
    expect(again.status).toBe(200);
    await again.text();
    expect(await untilClosed(ground, order)).toMatchObject({ state: 'recorded' });
    expect(await audit(ground)).toBe(before + 1);
  });
});
