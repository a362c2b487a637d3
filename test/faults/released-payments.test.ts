import { beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../harness/faults/audit.ts';
import { jwsOf, newBuyer, type Order, send, submitElsewhere } from '../harness/faults/buyer.ts';
import { claimOf, expire, untilClosed } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { movableClock } from '../harness/movable-clock.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/**
 * Validity of a payment that is to expire: shorter than that of the others, but long enough on a busy machine to be sent twice before it
 * expires.
 */
const SHORT_SECONDS = 150;

const clock = movableClock();

let ground: Ground;
let gateway: RunningService;
let buyer: Awaited<ReturnType<typeof newBuyer>>;

beforeAll(async () => {
  ground = await openGround();
  gateway = await ground.start({ options: { clock } });
  buyer = await newBuyer(ground);
  expect((await send(gateway, await buyer.registration())).status).toBe(200);
});

/** A payment that was released because the hub failed. */
async function releasedOrder(prompt: string, valid_seconds?: number): Promise<Order> {
  const order = await buyer.chat(prompt, valid_seconds);
  ground.broken.add(prompt);
  expect(await send(gateway, order)).toMatchObject({ status: 502, body: { code: 'hub_failed' } });
  ground.broken.delete(prompt);
  expect(await claimOf(ground, order)).toMatchObject({ state: 'released', reason: 'hub_failed' });
  return order;
}

describe('a payment that was released because the hub failed', () => {
  it('pays when it is sent again, once', async () => {
    const order = await releasedOrder('one');
    expect(await audit(ground)).toBe(1);
    const paid = await send(gateway, order);
    expect(paid.status).toBe(200);
    expect(jwsOf(await send(gateway, order))).toBe(jwsOf(paid));
    expect(await audit(ground)).toBe(2);
  });

  it('leaves no more behind than that it was asked for, whatever the size of the request', async () => {
    const order = await releasedOrder('long '.repeat(10_000));
    const text = 'select octet_length(request_box) as bytes from payment_claim where claim_key = $1';
    const [row] = await ground.database.query<{ bytes: number }>({ text, values: [order.claim_key] });
    expect(row?.bytes).toBeLessThan(200);
  });

  it('402 without another search where the chain has said once that it was used otherwise', async () => {
    const order = await releasedOrder('searched');
    await submitElsewhere(ground, order);
    const remember = (reason: string) =>
      ground.database.query({
        text: 'update payment_claim set reason = $2 where claim_key = $1',
        values: [order.claim_key, reason],
      });
    await remember('used_otherwise');
    // The stored reason decides without a search, which would find the transfer.
    const refused = await send(gateway, order);
    expect(refused.status).toBe(402);
    expect(JSON.stringify(refused.body)).toContain('used_otherwise');
    await remember('hub_failed');
    expect((await send(gateway, order)).status).toBe(200);
    expect(await audit(ground)).toBe(3);
  });

  it('and then submitted by somebody else pays when it is sent again, by that transfer', async () => {
    const order = await releasedOrder('two');
    await submitElsewhere(ground, order);
    // Anyone can read its calldata now, but a request of someone else gets nothing for it.
    const stolen = { ...order, body: order.body.replace('two', 'theirs') };
    expect(await send(gateway, stolen)).toMatchObject({ status: 409, body: { code: 'payment_already_used' } });
    expect((await send(gateway, order)).status).toBe(200);
    expect(await audit(ground)).toBe(4);
  });
});

describe('a payment that has expired', () => {
  let used: Order;
  let unused: Order;
  let unseen: Order;
  let bought: Order;
  let jws: string;

  beforeAll(async () => {
    used = await releasedOrder('three', SHORT_SECONDS);
    await submitElsewhere(ground, used);
    unused = await releasedOrder('four', SHORT_SECONDS);
    unseen = await buyer.chat('six', SHORT_SECONDS);
    await submitElsewhere(ground, unseen);
    bought = await buyer.chat('five', SHORT_SECONDS);
    jws = jwsOf(await send(gateway, bought));
    await expire(ground, clock, SHORT_SECONDS);
  });

  it('gets its answer again where it has bought one', async () => {
    const again = await send(gateway, bought);
    expect(again.status).toBe(200);
    expect(jwsOf(again)).toBe(jws);
  });

  it('is recorded where it was released and somebody else had submitted it', async () => {
    await eventually('recorded', async () => (await untilClosed(ground, used)).state === 'recorded' || null);
    // Its answer was discarded when the claim was released, so the work is done again without a charge.
    const before = ground.hub.requests.length;
    const answered = await send(gateway, used);
    expect(answered).toMatchObject({ status: 200, body: { svc: { settlement_status: 'idempotent_replay' } } });
    expect(jwsOf(await send(gateway, used))).toBe(jwsOf(answered));
    expect(ground.hub.requests).toHaveLength(before + 1);
  });

  it('gets its answer where it never came here before and somebody else had submitted it in time', async () => {
    expect((await send(gateway, unseen)).status).toBe(200);
    expect(await send(gateway, await buyer.chat('seven', -1))).toMatchObject({ status: 402 });
  });

  it('is final where it was released and nobody has used it', async () => {
    await eventually('final', async () => {
      // The chain's time decides, and this chain has a new block only for a transaction.
      await ground.chain.mine();
      const text = 'select 1 from payment_claim where claim_key = $1 and final';
      return (await ground.database.query({ text, values: [unused.claim_key] }))[0] ?? null;
    });
    // Before it was final the answer was 503, because someone might have submitted it, and a 402 would have requested a second payment.
    expect(await send(gateway, unused)).toMatchObject({ status: 402 });
  });

  it('leaves one row for each transfer, and none for what did not move', async () => {
    expect(await audit(ground)).toBe(7);
  });
});
