import { beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../harness/faults/audit.ts';
import { nameOf, newBuyer, type Order, send } from '../harness/faults/buyer.ts';
import { claimOf, untilAllClosed } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { type Cut, type DatabaseProxy, startDatabaseProxy } from '../harness/faults/wire.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/*
 * A commit that was sent and not answered. It took effect or it did not, and the process cannot know. Its answer must be true in both
 * cases, and its next step right in both.
 */

let ground: Ground;
let wire: DatabaseProxy;
let gateway: RunningService;
let buyer: Awaited<ReturnType<typeof newBuyer>>;

beforeAll(async () => {
  ground = await openGround();
  wire = await startDatabaseProxy(ground.database_url);
  gateway = await ground.start({ url: wire.url });
  buyer = await newBuyer(ground);
  expect((await send(gateway, await buyer.registration())).status).toBe(200);
});

const claim = 'insert claims';
const settling = 'begin settling';
const record = 'mark recorded';

/** Sends the same payment until it is answered 200. No answer before may request another payment. */
async function paidInTheEnd(order: Order): Promise<void> {
  await eventually('paid', async () => {
    const answer = await send(gateway, order);
    expect(['200', '409 payment_in_flight', '503 settlement_pending', '503 unavailable']).toContain(nameOf(answer));
    return answer.status === 200 || null;
  });
}

async function cutAt(cut: Cut, order: Order, options?: { readonly down: boolean }) {
  const before = wire.cuts();
  wire.cutNext(cut, options);
  const answer = await send(gateway, order);
  expect(wire.cuts()).toBe(before + 1);
  return answer;
}

const cases: readonly [statement: string, commit: Cut['commit'], heard: string][] = [
  [claim, 'lost', '503 unavailable'],
  [claim, 'done', '503 unavailable'],
  [settling, 'lost', '503 settlement_pending'],
  // The service checks at once and finds the commit, so the client need not wait.
  [settling, 'done', '200'],
  [record, 'lost', '503 settlement_pending'],
  [record, 'done', '503 settlement_pending'],
];

describe.each(cases)('the commit of "%s" in doubt, in truth %s', (statement, commit, heard) => {
  it(`is answered ${heard}; the same payment brings the answer, one transfer and one record`, async () => {
    const before = await audit(ground);
    const order = await buyer.chat(`${statement} ${commit}`);
    const answer = await cutAt({ statement, commit }, order);
    expect(nameOf(answer)).toBe(heard);
    // Only the answer to a call whose payment was certainly not sent may say that nothing was charged.
    if (answer.status !== 200) expect(answer.body.charged).toBe(statement === claim ? false : undefined);
    await paidInTheEnd(order);
    await untilAllClosed(ground);
    expect(await audit(ground)).toBe(before + 1);
  });
});

describe.each(cases)(
  'the commit of "%s" in doubt, in truth %s, and the database away from then on',
  (statement, commit) => {
    it('says nothing of the money but that it may be on its way, and all comes right once it is back', async () => {
      const before = await audit(ground);
      const order = await buyer.chat(`${statement} ${commit}, then away`);
      const answer = await cutAt({ statement, commit }, order, { down: true });
      expect(nameOf(answer)).toBe(statement === claim ? '503 unavailable' : '503 settlement_pending');
      expect(answer.body).not.toHaveProperty('charged');
      const again = await send(gateway, order);
      expect(nameOf(again)).toBe(statement === record ? '503 settlement_pending' : '503 unavailable');
      expect(again.body).not.toHaveProperty('charged');
      expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(before + (statement === record ? 1 : 0));
      wire.up();
      await paidInTheEnd(order);
      await untilAllClosed(ground);
      expect((await claimOf(ground, order))?.state).toBe('recorded');
      expect(await audit(ground)).toBe(before + 1);
    });
  },
);
