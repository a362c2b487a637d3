import { beforeAll, expect, it } from 'vitest';
import type { FaultPoint } from '../../gateway/operations/faults.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type JobParties, openJobParties } from '../harness/board/job-legs.ts';
import { auditBooks } from '../harness/faults/audit-books.ts';
import { auditLog } from '../harness/faults/audit-log.ts';
import { nameOf, type Order, send, submitElsewhere, trySend } from '../harness/faults/buyer.ts';
import { claimOf, expire } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { movableClock } from '../harness/movable-clock.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* Each of the two payments of a job moves once and is recorded once on both books, at whatever point a process is killed. */

const clock = movableClock();

let ground: Ground;
let living: RunningService;
let parties: JobParties;

beforeAll(async () => {
  ground = await openGround();
  living = await ground.start({ options: { clock } });
  parties = await openJobParties(ground, living);
});

/**
 * Validity of a payment that is to expire: shorter than that of the others, but long enough on a busy machine for every request before it
 * expires.
 */
const SHORT_SECONDS = 30;

/**
 * Answers while a payment is in progress. The last one occurs while the claim of the dead process is being released and the first payment
 * is checked.
 */
const underWay = ['409 payment_in_flight', '503 settlement_pending', '409 job_leg_in_flight'];

const seen = async (path: string) => (await (await fetch(living.url + path)).json()) as JsonObject;
/** Sends the same payment until it has moved. Every answer before must report that it is in progress. */
function dueAfter(order: Order) {
  return eventually('the second payment to be due', async () => {
    const answer = await send(living, order);
    if (answer.status === 402 && answer.headers.has('x-payment-response')) return answer;
    expect(underWay).toContain(nameOf(answer));
    return null;
  });
}

function paidAfter(order: Order) {
  return eventually('the job to be paid', async () => {
    const answer = await send(living, order);
    if (answer.status === 200) return answer;
    expect(underWay).toContain(nameOf(answer));
    return null;
  });
}

/** Kills a process at that point. The payment is signed after the process has started, because it is valid for 90 seconds only. */
async function killedAt(point: FaultPoint, sign: () => Promise<Order>): Promise<Order> {
  const dying = await ground.startDying({ plan: { point } });
  const order = await sign();
  expect(await trySend(dying, order)).toBeNull();
  await dying.endLease();
  return order;
}

async function firstKilled(point: FaultPoint): Promise<void> {
  const job = await parties.newJob();
  const first = await killedAt(point, () => job.first());
  await dueAfter(first);
  expect(await claimOf(ground, first)).toMatchObject({ state: 'held' });
  const { body } = await paidAfter(await job.fee());
  expect([point, ...(await job.moved(body))]).toEqual([point, 1, 1, 2]);
}

async function secondKilled(point: FaultPoint): Promise<void> {
  const job = await parties.newJob();
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
  for (const point of points) await firstKilled(point);
});

it('killed at any point of the second: it moves once, and one receipt stands on both books', async () => {
  const points = ['after_claim', 'after_work', 'in_settling', 'after_broadcast', 'before_record', 'in_record'] as const;
  for (const point of points) await secondKilled(point);
});

it('a first payment that was let go of keeps all others away until it is over; used by whom it pays, it is held', async () => {
  const job = await parties.newJob();
  const dying = await ground.startDying({ plan: { point: 'after_claim' } });
  const first = await job.first(SHORT_SECONDS);
  expect(await trySend(dying, first)).toBeNull();
  await dying.endLease();
  await eventually('it to be let go of', async () => (await claimOf(ground, first))?.state === 'released' || null);
  await submitElsewhere(ground, first);
  expect(nameOf(await send(living, await job.first()))).toBe('409 job_leg_in_flight');
  const headers = { 'x-svc-session': parties.poster.session };
  const unpaid = await fetch(`${living.url}${job.path}/pay`, { method: 'POST', headers });
  expect([unpaid.status, unpaid.headers.get('retry-after')]).toEqual([409, '5']);
  await expire(ground, clock, SHORT_SECONDS);
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
