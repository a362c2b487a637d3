import { createHash } from 'node:crypto';
import type { Hex } from 'viem';
import { beforeAll, expect, it } from 'vitest';
import type { FaultPoint } from '../../gateway/operations/faults.ts';
import { type AtomicAmount, atomicAmount } from '../../schema/amount.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { auditBooks } from '../harness/faults/audit-books.ts';
import { auditLog } from '../harness/faults/audit-log.ts';
import { nameOf, newBuyer, type Order, send, submitElsewhere, trySend } from '../harness/faults/buyer.ts';
import { claimOf } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* Both payments of a job move once, and are recorded once on both books, whatever dies. */

/** Each job has a price of its own, by which its payments are told apart. */
let last_price = 1_000_000n;
const feeOf = (price: bigint) => atomicAmount(2_000n + (price + 99n) / 100n);

let ground: Ground;
let living: RunningService;
let poster: Party;
let winner: Party;
type Party = Awaited<ReturnType<typeof newParty>>;

async function newParty() {
  const account = await ground.chain.newWallet();
  const buyer = await newBuyer(ground, account);
  const { session } = (await send(living, await buyer.registration())).body as Record<string, string>;
  return { address: account.address, buyer, session: String(session) };
}

beforeAll(async () => {
  ground = await openGround();
  living = await ground.start();
  [poster, winner] = await Promise.all([newParty(), newParty()]);
});

const stamp = async ({ buyer, session }: Party, path: string, body: JsonObject) => {
  const answer = await send(living, { ...(await buyer.pay(path, body)), session });
  if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body as Record<string, string>;
};

async function act({ session }: Party, path: string, body: JsonObject): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-svc-session': session };
  const answer = await fetch(living.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (answer.status !== 200) throw new Error(`${path}: ${await answer.text()}`);
}

/** Delivered, and ready to be paid for. */
async function newJob() {
  last_price += 100n;
  const price = atomicAmount(last_price);
  const deadline = new Date(Date.now() + 86_400_000).toISOString();
  const { job_id } = await stamp(poster, '/v1/board/jobs', { text: 'Do this', budget: '2000000', deadline });
  const path = `/v1/board/jobs/${job_id}`;
  const { bid_id } = await stamp(winner, `${path}/bid`, { price: String(price) });
  await act(poster, `${path}/pick`, { bid_id: String(bid_id) });
  const output_sha256 = createHash('sha256').update('done').digest('hex');
  await act(winner, `${path}/deliver`, { output_sha256 });
  const order = async (pay_to: Hex, amount_atomic: AtomicAmount, valid_seconds = 90): Promise<Order> => ({
    ...(await poster.buyer.payAs(`${path}/pay`, { pay_to, amount_atomic }, valid_seconds)),
    session: poster.session,
  });
  return {
    path,
    first: (valid_seconds?: number) => order(winner.address, price, valid_seconds),
    fee: () => order(ground.pay_to, feeOf(price)),
    /** How often either payment has moved, and on how many books the receipt stands. */
    async moved({ payout }: JsonObject) {
      const [to_winner, to_us] = await Promise.all([winner.address, ground.pay_to].map(ground.chain.transfers));
      const { task_id } = payout as { task_id: string };
      const text = 'select agent_id from book_row where task_id = $1';
      return [
        (to_winner ?? []).filter(it => it.amount_atomic === price).length,
        (to_us ?? []).filter(it => it.amount_atomic === feeOf(price)).length,
        (await ground.database.query({ text, values: [task_id] })).length,
      ];
    },
  };
}

const seen = async (path: string) => (await (await fetch(living.url + path)).json()) as JsonObject;
/** The same payment, shown until it has moved: never another word than that it is under way. */
function dueAfter(order: Order) {
  return eventually('the second payment to be due', async () => {
    const answer = await send(living, order);
    if (answer.status === 402 && answer.headers.has('x-payment-response')) return answer;
    expect(['409 payment_in_flight', '503 settlement_pending']).toContain(nameOf(answer));
    return null;
  });
}

function paidAfter(order: Order) {
  return eventually('the job to be paid', async () => {
    const answer = await send(living, order);
    if (answer.status === 200) return answer;
    expect(['409 payment_in_flight', '503 settlement_pending']).toContain(nameOf(answer));
    return null;
  });
}

/** Signed once the gateway is up, which takes a while where several start at once: a payment stands for 90 seconds. */
async function killedAt(point: FaultPoint, sign: () => Promise<Order>): Promise<Order> {
  const dying = await ground.startFaulty({ point });
  const order = await sign();
  expect(await trySend(dying, order)).toBeNull();
  expect(await dying.exited).toBeNull();
  return order;
}

async function firstKilled(point: FaultPoint): Promise<void> {
  const job = await newJob();
  const first = await killedAt(point, () => job.first());
  await dueAfter(first);
  expect(await claimOf(ground, first)).toMatchObject({ state: 'held' });
  const { body } = await paidAfter(await job.fee());
  expect([point, ...(await job.moved(body))]).toEqual([point, 1, 1, 2]);
}

async function secondKilled(point: FaultPoint): Promise<void> {
  const job = await newJob();
  const first = await job.first();
  await dueAfter(first);
  const fee = await killedAt(point, job.fee);
  const { body } = await paidAfter(fee);
  expect([point, ...(await job.moved(body))]).toEqual([point, 1, 1, 2]);
  expect(await claimOf(ground, first)).toMatchObject({ state: 'recorded' });
}

it('killed at any point of the first payment: it moves once, and the job is paid', async () => {
  const sending = ['after_claim', 'in_settling', 'after_settling', 'after_broadcast'] as const;
  const points = [...sending, 'before_hold', 'in_hold'] as const;
  await Promise.all(points.map(firstKilled));
});

it('killed at any point of the second: it moves once, and one receipt stands on both books', async () => {
  const points = ['after_claim', 'after_work', 'in_settling', 'after_broadcast', 'before_record', 'in_record'] as const;
  await Promise.all(points.map(secondKilled));
});

it('a first payment that was let go of keeps all others away until it is over; used by whom it pays, it is held', async () => {
  const job = await newJob();
  const dying = await ground.startFaulty({ point: 'after_claim' });
  const first = await job.first(20);
  expect(await trySend(dying, first)).toBeNull();
  await eventually('it to be let go of', async () => (await claimOf(ground, first))?.state === 'released' || null);
  await submitElsewhere(ground, first);
  expect(nameOf(await send(living, await job.first()))).toBe('409 job_leg_in_flight');
  const headers = { 'x-svc-session': poster.session };
  const unpaid = await fetch(`${living.url}${job.path}/pay`, { method: 'POST', headers });
  expect([unpaid.status, unpaid.headers.get('retry-after')]).toEqual([409, '5']);
  await eventually('it to be held', async () => (await claimOf(ground, first))?.state === 'held' || null);
  expect(await seen(job.path)).toMatchObject({ status: 'delivered', legs: [{ status: 'settled' }, {}] });
  const { body } = await paidAfter(await job.fee());
  expect(await job.moved(body)).toEqual([1, 1, 2]);
});

it('leaves books and log as they have to be, and nothing held', async () => {
  const held = await ground.database.query({ text: 'select 1 from book where reserved_atomic <> 0', values: [] });
  expect(held).toHaveLength(0);
  await auditBooks(ground.database);
  await auditLog(ground.database, ground.saved_head);
});
