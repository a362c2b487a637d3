import { beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../harness/faults/audit.ts';
import { harmless, jwsOf, nameOf, newBuyer, type Order, send, trySend } from '../../harness/faults/buyer.ts';
import { claimOf, untilAllClosed } from '../../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../../harness/faults/ground.ts';
import type { RunningGateway } from '../../harness/gateway.ts';

let ground: Ground;
let gateways: readonly [RunningGateway, RunningGateway];

beforeAll(async () => {
  ground = await openGround();
  gateways = await Promise.all([ground.startProcess(), ground.startProcess()]);
});

async function registeredBuyer() {
  const buyer = await newBuyer(ground);
  expect((await send(gateways[0], await buyer.registration())).status).toBe(200);
  return buyer;
}

/** Sends half of the orders to each process. */
const spread = <T>(orders: readonly Order[], to: (gateway: RunningGateway, order: Order) => Promise<T>) =>
  Promise.all(orders.map((order, index) => to(gateways[index % 2 === 0 ? 0 : 1], order)));

describe('one payment sent a thousand times at once to two processes', () => {
  it('is charged once, and every answer is the receipt or says to ask again', async () => {
    const buyer = await registeredBuyer();
    const before = await audit(ground);
    const order = await buyer.chat('me first');
    const answers = await spread(
      Array.from({ length: 1_000 }, () => order),
      send,
    );

    const paid = answers.filter(answer => answer.status === 200);
    expect([...new Set(answers.map(nameOf))].filter(name => !harmless.has(name))).toEqual([]);
    expect(paid.length).toBeGreaterThan(0);
    const last = await send(gateways[1], order);
    expect(new Set([...paid, last].map(jwsOf)).size).toBe(1);
    expect(await audit(ground)).toBe(before + 1);
    const [row] = await ground.database.query<{ replay_count: number }>({
      text: `select r.replay_count + coalesce(c.count, 0) as replay_count from book_row r
        left join book_counted c using (agent_id, seq) where r.task_id = $1`,
      values: [(await claimOf(ground, order))?.task_id],
    });
    expect(row?.replay_count).toBe(paid.length);
  });
});

describe('two hundred payments at once over two processes with the same settlement keys', () => {
  it('all land, each once, though one process is killed among them', async () => {
    const buyers = [await registeredBuyer(), await registeredBuyer(), await registeredBuyer(), await registeredBuyer()];
    const before = await audit(ground);
    const orders = await Promise.all(
      Array.from({ length: 200 }, (_, index) => buyers[index % 4]?.chat(`the ${index}th`) ?? Promise.reject()),
    );
    const sent = spread(orders, trySend);
    await eventually('the first have moved', async () => {
      const { length } = await ground.chain.transfers(ground.pay_to);
      return length > before || null;
    });
    await gateways[0].kill('SIGKILL');
    const answers = await sent;
    await untilAllClosed(ground);
    await audit(ground);

    const heard = answers.filter(answer => answer !== null);
    expect([...new Set(heard.map(nameOf))].filter(name => !harmless.has(name))).toEqual([]);
    const unanswered = orders.filter((_, index) => answers[index]?.status !== 200);
    expect(unanswered.length).toBeGreaterThan(0);
    const again = await Promise.all(unanswered.map(order => send(gateways[1], order)));
    expect(new Set(again.map(nameOf))).toEqual(new Set(['200']));
    expect(await audit(ground)).toBe(before + orders.length);
    expect(await largestBatch()).toBeGreaterThan(1);
  });
});

async function largestBatch(): Promise<number | undefined> {
  const text = 'select max(authorizations)::int as largest from settlement';
  const [row] = await ground.database.query<{ largest: number }>({ text });
  return row?.largest;
}
