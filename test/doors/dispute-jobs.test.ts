import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { verifyDispute } from '../../subgraphs/receipt/verify/dispute.ts';
import { JOBS, type JobAgent, openJobs } from '../harness/board/jobs.ts';
import { paymentFor } from '../harness/buyer.ts';
import { disputeDoorsOf } from '../harness/doors/disputes.ts';

/* Disputes of a paid job are decided by whether its output was revealed, not by what the winner committed to. */

const OUTPUT = 'The whole of it';
const PRICE = '1500001';
/** The price of the stamp and one per cent of the job's price, rounded up. */
const FEE = String(2_000 + 15_001);

let jobs: Awaited<ReturnType<typeof openJobs>>;
let keys: JsonObject;
beforeAll(async () => {
  jobs = await openJobs();
  keys = (await jobs.service.get<JsonObject>('/.well-known/jwks.json')).body;
});
const { file } = disputeDoorsOf(() => jobs.service);

interface Paid {
  readonly job_id: string;
  /** Task id of the payment to the winner. `fee_task_id` is that of the fee. */
  readonly task_id: string;
  readonly fee_task_id: string;
}

async function paidJob(): Promise<Paid> {
  const { service, poster, by } = jobs;
  const { job_id } = await jobs.brought('delivered', OUTPUT);
  const path = `${JOBS}/${job_id}/pay`;
  const known = (await jobs.service.query<{ task_id: string }>('select task_id from book_row')).map(it => it.task_id);
  let heard = await service.post<JsonObject>(path, {}, by(poster));
  for (const leg of ['winner', 'fee']) {
    const payment = await paymentFor(poster.account, service.url + path, by(poster));
    heard = await service.post<JsonObject>(path, {}, { ...by(poster), ...payment });
    expect(heard.status, leg).toBe(leg === 'fee' ? 200 : 402);
  }
  const { task_id } = heard.body.payout as { task_id: string };
  const [fee] = await service.query<{ task_id: string }>(
    'select task_id from book_row where agent_id = $1 and task_id <> all($2) and task_id <> $3',
    [poster.agent_id, known, task_id],
  );
  return { job_id, task_id, fee_task_id: String(fee?.task_id) };
}

/** Moves the payment of the job that many days into the past. */
const ago = ({ job_id }: Paid, days: number) =>
  jobs.service.query(`update board_job set paid_at = paid_at - make_interval(days => $2) where job_id = $1`, [
    job_id,
    days,
  ]);

async function verdictOn(task_id: string, who: JobAgent = jobs.poster, evidence: JsonObject = {}) {
  const { body, status, text } = await file(who, { task_id, claim_type: 'output_missing', evidence });
  expect([200, 201], text).toContain(status);
  const verified = verifyDispute(body.verdict, keys);
  expect(verified, JSON.stringify(verified)).toMatchObject({ kind: 'valid' });
  return body;
}

describe('output_missing of a job that was paid for', () => {
  it('stand: its output was revealed', async () => {
    const { job_id, task_id } = await paidJob();
    await jobs.step(jobs.winner, job_id, 'reveal', { output: OUTPUT, encoding: 'utf8' });
    expect(await verdictOn(task_id)).toMatchObject({ outcome: 'stand', reason: 'output_revealed' });
  });

  it('open: it was not revealed; challenged, until seven days after the payment; and a reveal decides it', async () => {
    const paid = await paidJob();
    const { job_id, task_id, fee_task_id } = paid;
    for (const row of [task_id, fee_task_id])
      expect(await verdictOn(row)).toMatchObject({ outcome: null, reason: 'output_not_revealed', decides_after: null });
    await ago(paid, 6);
    await jobs.step(jobs.poster, job_id, 'challenge');
    const awaited = await verdictOn(task_id);
    expect(awaited).toMatchObject({ outcome: null, reason: 'reveal_awaited', revision: 2 });
    const until_ms = Date.parse(awaited.decides_after ?? '');
    expect(until_ms).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    expect(until_ms).toBeLessThan(Date.now() + 24 * 3_600_000);
    await jobs.step(jobs.winner, job_id, 'reveal', { output: OUTPUT, encoding: 'utf8' });
    await ago(paid, 2);
    expect(await verdictOn(task_id)).toMatchObject({ outcome: 'stand', reason: 'output_revealed', revision: 3 });
  });

  it('refund of the fee alone, once, whichever of both rows is disputed; the price is owed by the winner', async () => {
    const paid = await paidJob();
    const { job_id, task_id, fee_task_id } = paid;
    await jobs.step(jobs.poster, job_id, 'challenge');
    await ago(paid, 7);
    const refund = await verdictOn(task_id);
    expect(refund).toMatchObject({
      outcome: 'refund',
      reason: 'output_never_revealed',
      final: true,
      verdict: {
        owed_back: { task_id: fee_task_id, amount: FEE },
        owed_by_winner: { agent_id: jobs.winner.agent_id, amount: PRICE },
        moves_money: false,
      },
    });
    for (const [row, evidence] of [
      [fee_task_id, {}],
      [task_id, { note: 'again' }],
    ] as const)
      expect(await verdictOn(row, jobs.poster, evidence)).toMatchObject({
        outcome: 'stand',
        reason: 'already_refunded',
      });
    // The winner was charged nothing. On its book the same payment is income.
    expect(await verdictOn(task_id, jobs.winner)).toMatchObject({ outcome: 'stand', reason: 'nothing_charged' });
  });

  it('refund by the row of the fee, too, which names the same charge', async () => {
    const paid = await paidJob();
    await jobs.step(jobs.poster, paid.job_id, 'challenge');
    await ago(paid, 7);
    const { verdict } = await verdictOn(paid.fee_task_id);
    expect(verdict).toMatchObject({ outcome: 'refund', owed_back: { task_id: paid.fee_task_id, amount: FEE } });
    expect(await verdictOn(paid.task_id)).toMatchObject({ outcome: 'stand', reason: 'already_refunded' });
  });
});
