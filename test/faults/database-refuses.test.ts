import { beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../harness/faults/audit.ts';
import { type Answer, jwsOf, nameOf, newBuyer, type Order, send } from '../harness/faults/buyer.ts';
import { claimOf, untilAllClosed } from '../harness/faults/claims.ts';
import { startCluster } from '../harness/faults/cluster.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

let cluster: Awaited<ReturnType<typeof startCluster>>;
let ground: Ground;
let gateway: RunningService;
let buyer: Awaited<ReturnType<typeof newBuyer>>;

beforeAll(async () => {
  cluster = await startCluster();
  ground = await openGround({ database_url: cluster.url });
  gateway = await ground.start();
  buyer = await newBuyer(ground);
  expect((await send(gateway, await buyer.registration())).status).toBe(200);
});

const health = async () => (await (await fetch(`${gateway.url}/health`)).json()) as { status: string; away: string[] };
const transfers = () => ground.chain.transfers(ground.pay_to);

async function healthy(): Promise<void> {
  await eventually('health ok', async () => (await health()).status === 'ok' || null);
}

function expectRefusedUnsent(answer: Answer): void {
  expect(nameOf(answer)).toBe('503 unavailable');
  expect(answer.body.charged).toBe(false);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
}

async function expectPaid(order: Order): Promise<Answer> {
  return eventually('paid', async () => {
    const answer = await send(gateway, order);
    expect(['200', '409 payment_in_flight', '503 settlement_pending', '503 unavailable']).toContain(nameOf(answer));
    return answer.status === 200 ? answer : null;
  });
}

describe('a database that has become read-only', () => {
  it('lets no call be charged, and health says so; the same payments pay once it takes writes again', async () => {
    const bought = await buyer.chat('bought before');
    const paid = await send(gateway, bought);
    expect(paid.status).toBe(200);
    const before = await audit(ground);

    await cluster.readOnly(true);
    await eventually('degraded', async () => (await health()).status === 'degraded' || null);
    expect((await health()).away).toEqual(['database']);
    const orders = await Promise.all(Array.from({ length: 10 }, (_, index) => buyer.chat(`read-only ${index}`)));
    for (const answer of await Promise.all(orders.map(order => send(gateway, order)))) expectRefusedUnsent(answer);
    const newcomer = await newBuyer(ground);
    const registration = await newcomer.registration();
    expectRefusedUnsent(await send(gateway, registration));
    // This payment bought something, so its answer must not say that nothing was charged.
    expect(nameOf(await send(gateway, bought))).toBe('503 settlement_pending');
    expect((await fetch(`${gateway.url}/v1/models`)).status).toBe(200);
    expect(await transfers()).toHaveLength(before);

    await cluster.readOnly(false);
    await healthy();
    for (const order of [...orders, registration]) await expectPaid(order);
    expect(jwsOf(await expectPaid(bought))).toBe(jwsOf(paid));
    await untilAllClosed(ground);
    expect(await audit(ground)).toBe(before + orders.length + 1);
  });
});

/** Makes the server refuse new rows of that table as if its disk were full. Returns a function that ends this. */
async function fill(table: string): Promise<() => Promise<void>> {
  await ground.database.query({
    text: `create or replace function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
  });
  await ground.database.query({
    text: `create trigger full_disk before insert on ${table} for each row execute function no_room()`,
  });
  return async () => {
    await ground.database.query({ text: `drop trigger full_disk on ${table}` });
  };
}

describe('a database whose disk is full', () => {
  it('before the claim: refused before anything is worked for, and health says so', async () => {
    const before = await audit(ground);
    const asked = ground.hub.requests.length;
    const empty = await fill('payment_claim');
    const orders = await Promise.all(Array.from({ length: 10 }, (_, index) => buyer.chat(`no room ${index}`)));
    for (const answer of await Promise.all(orders.map(order => send(gateway, order)))) expectRefusedUnsent(answer);
    expect(await health()).toMatchObject({ status: 'degraded', away: ['database'] });
    expect(ground.hub.requests).toHaveLength(asked);
    await empty();
    for (const order of orders) await expectPaid(order);
    await healthy();
    expect(await audit(ground)).toBe(before + orders.length);
  });

  it('before the payment is sent: worked for, and not sent; the payment stays usable', async () => {
    const before = await audit(ground);
    const empty = await fill('settlement');
    const order = await buyer.chat('no room for the settlement');
    expectRefusedUnsent(await send(gateway, order));
    expect(await claimOf(ground, order)).toMatchObject({ state: 'released', reason: 'unavailable' });
    expect(await transfers()).toHaveLength(before);
    await empty();
    await expectPaid(order);
    expect(await audit(ground)).toBe(before + 1);
  });

  it('after the money has moved: pending, and recorded once there is room', async () => {
    const before = await audit(ground);
    const empty = await fill('receipt');
    const orders = await Promise.all(
      Array.from({ length: 5 }, (_, index) => buyer.chat(`no room for the receipt ${index}`)),
    );
    const answers = await Promise.all(orders.map(order => send(gateway, order)));
    for (const answer of answers) {
      expect(nameOf(answer)).toBe('503 settlement_pending');
      expect(answer.body).not.toHaveProperty('charged');
    }
    expect(await transfers()).toHaveLength(before + orders.length);
    await empty();
    for (const order of orders) await expectPaid(order);
    expect(await audit(ground)).toBe(before + orders.length);
  });
});
