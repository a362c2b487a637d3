import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeAll, describe, expect, it } from 'vitest';
import { agentId } from '../../../../schema/ids.ts';
import { jobLimits } from '../../../../schema/limits.ts';
import { expireJobs } from '../../../../subgraphs/board/job/expire.ts';
import { deliverySlot, legSlot } from '../../../../subgraphs/board/job/legs.ts';
import { listJobs } from '../../../../subgraphs/board/job/list.ts';
import { payableJob } from '../../../../subgraphs/board/job/mark-paid.ts';
import { forgetOutputs, outputOfJob } from '../../../../subgraphs/board/job/output.ts';
import { claimOfSlot } from '../../../../subgraphs/receipt/claim/held-leg.ts';
import { jobTable, OUTPUT, OUTPUT_SHA256 } from '../../../harness/board/job-table.ts';
import { claim, claimRequest } from '../../../harness/claim/fixture.ts';
import { programOf } from '../../../harness/gateway.ts';
import { freshStore } from '../../../harness/store.ts';

/* Many steps at the same time, with processes that die and jobs that expire between them. */

let database: Awaited<ReturnType<typeof freshStore>>;
let table: ReturnType<typeof jobTable>;
beforeAll(async () => {
  database = await freshStore();
  table = jobTable(database);
});

const POSTER = 1;
const BIDDERS = Array.from({ length: 100 }, (_, at) => at + 2);
const settled = async <T>(all: readonly Promise<T>[]) =>
  (await Promise.allSettled(all)).map(one => (one.status === 'fulfilled' ? 'done' : String(one.reason.code)));

describe('a hundred bidders', () => {
  it('who race with three bids each have two at most, one of them open, and none of what was paid is lost', async () => {
    const job_id = await table.post(POSTER);
    const bought = await Promise.allSettled(
      [0, 1, 2].flatMap(at => BIDDERS.map(agent => table.bid(agent, job_id, String(1_000 + agent * 3 + at)))),
    );
    const refused = bought.flatMap(one => (one.status === 'rejected' ? [one.reason.code] : []));
    expect(refused.filter(code => code !== 'bids_used')).toEqual([]);
    const recorded = bought.flatMap(one => (one.status === 'fulfilled' && one.value !== null ? [one.value] : []));
    const bids = await table.bids(job_id);
    expect(bids.length).toBe(recorded.length);
    for (const { bid_id, price } of recorded)
      expect(bids.find(({ bidId }) => bidId === bid_id)?.price).toBe(BigInt(String(price)));
    for (const agent of BIDDERS) {
      const own = bids.filter(({ agentId: bidder }) => bidder === agent);
      expect(own.map(({ revision }) => revision)).toEqual(own.map((_, at) => at + 1));
      expect(own.map(({ status }) => status).sort()).toEqual(own.length === 1 ? ['open'] : ['open', 'revised']);
    }
    expect((await table.read(job_id)).job.bidCount).toBe(BIDDERS.length);
  });

  it('who race with two picks: one bid is picked, at its own price, and every other has expired', async () => {
    const job_id = await table.post(POSTER);
    for (const agent of [2, 3]) await table.bid(agent, job_id, String(agent));
    const [one, two] = await table.bids(job_id);
    const racing = settled(BIDDERS.slice(2).map(agent => table.bid(agent, job_id)));
    const picks = settled([one, two].map(bid => table.pick(POSTER, job_id, bid?.bidId ?? '')));
    expect((await picks).sort()).toEqual(['done', 'job_state_conflict']);
    expect((await racing).every(outcome => outcome === 'done' || outcome === 'job_state_conflict')).toBe(true);
    const { job } = await table.read(job_id);
    const bids = await table.bids(job_id);
    const picked = bids.filter(({ status }) => status === 'picked');
    expect(picked.map(({ bidId, agentId: winner, price }) => [bidId, winner, price])).toEqual([
      [job.pickedBidId, job.winnerAgentId, BigInt(job.winnerAgentId ?? 0)],
    ]);
    expect(bids.filter(({ status }) => status !== 'picked' && status !== 'expired')).toEqual([]);
    expect(await table.kinds(job_id)).toEqual(
      expect.arrayContaining(['job_posted', 'job_bid', 'job_bid', 'job_picked']),
    );
    expect((await table.kinds(job_id)).at(-1)).toBe('job_picked');
  });

  it('whose positions among the events of the board have no gap', async () => {
    const positions = await database.query<{ position: number }>({
      text: 'select position from board_event order by position',
    });
    expect(positions.map(({ position }) => position)).toEqual(positions.map((_, at) => at + 1));
  });
});

async function broughtTo(state: 'picked' | 'delivered' | 'paid'): Promise<string> {
  const job_id = await table.post(POSTER);
  await table.bid(2, job_id);
  const [bid] = await table.bids(job_id);
  await table.pick(POSTER, job_id, bid?.bidId ?? '');
  if (state !== 'picked') await table.deliver(2, job_id);
  if (state === 'paid') await table.pay(job_id);
  return job_id;
}

describe('a payment that is claimed while its delivery ends', () => {
  const OTHER = 'f'.repeat(64);
  /** The slots that the first payment of a job takes with its claim, for the delivery that the poster has read. */
  const slotsFor = async (job_id: string) => [legSlot(job_id), deliverySlot((await table.read(job_id)).job)];
  const ends = {
    'is replaced': (job_id: string) => table.deliver(2, job_id, OTHER),
    'is refused': (job_id: string) => table.refuse(POSTER, job_id),
  };

  it.each(Object.entries(ends))(
    'is refused where the delivery %s first, and keeps it where it came first',
    async (_, end) => {
      const [before, after] = [await broughtTo('delivered'), await broughtTo('delivered')];
      const slots = await slotsFor(before);
      await end(before);
      expect(await claim(database, claimRequest(`late for ${before}`, { slots }))).toMatchObject([
        { kind: 'slot_taken' },
      ]);
      // The refused payment was never sent, so another one may pay for the job.
      expect(await claimOfSlot(database, legSlot(before))).toBeNull();
      const next = claimRequest(`next for ${before}`, { slots: await slotsFor(before) });
      expect(await claim(database, next)).toMatchObject([{ kind: 'claimed' }]);
      expect(await claim(database, claimRequest(`early for ${after}`, { slots: await slotsFor(after) }))).toMatchObject(
        [{ kind: 'claimed' }],
      );
      const { job } = await table.read(after);
      await expect(end(after)).rejects.toMatchObject({ code: 'job_leg_in_flight' });
      expect((await table.read(after)).job).toEqual(job);
    },
  );

  it.each(Object.entries(ends))(
    'or both at once: one of them comes first, and the other has no part: it %s',
    async (_, end) => {
      for (let round = 0; round < 12; round++) {
        const job_id = await broughtTo('delivered');
        const slots = await slotsFor(job_id);
        const payment = claimRequest(`pays ${job_id}`, { slots });
        const [[claimed], ended] = await Promise.all([claim(database, payment), settled([end(job_id)])]);
        const { job } = await table.read(job_id);
        if (claimed?.kind === 'claimed')
          expect([ended, job.state, job.outputSha256]).toEqual([['job_leg_in_flight'], 'delivered', OUTPUT_SHA256]);
        else
          expect([claimed?.kind, ended, job.outputSha256 === OUTPUT_SHA256]).toEqual(['slot_taken', ['done'], false]);
      }
    },
  );

  it('or which a process of the version before has claimed, without the slot of its delivery', async () => {
    for (const end of Object.values(ends)) {
      const job_id = await broughtTo('delivered');
      await claim(database, claimRequest(`pays ${job_id} as before`, { slots: [legSlot(job_id)] }));
      await expect(end(job_id)).rejects.toMatchObject({ code: 'job_leg_in_flight' });
    }
  });
});

describe('a delivery', () => {
  const hash = (digit: number) => String(digit).repeat(64);

  it('that is replaced and refused at once is one or the other: nobody refuses what they have not read', async () => {
    for (let round = 0; round < 12; round++) {
      const job_id = await broughtTo('delivered');
      const [replaced, refused] = await Promise.all([
        settled([table.deliver(2, job_id, hash(7))]),
        settled([table.refuse(POSTER, job_id)]),
      ]);
      expect(replaced).toEqual(['done']);
      expect(['done', 'job_output_differs']).toContain(refused[0]);
      const { job } = await table.read(job_id);
      const refusals = refused[0] === 'done' ? 1 : 0;
      expect(job).toMatchObject({ state: 'delivered', outputSha256: hash(7), refusals, deliveriesRetired: 1 });
    }
  });

  it('is replaced by many at once, each once, and no more often than may be', async () => {
    const job_id = await broughtTo('delivered');
    const hashes = Array.from({ length: 10 }, (_, digit) => hash(digit));
    const outcomes = await settled([...hashes, ...hashes].map(sha256 => table.deliver(2, job_id, sha256)));
    const { job } = await table.read(job_id);
    expect(new Set(outcomes)).toEqual(new Set(['done', 'deliveries_used']));
    expect(job.deliveriesRetired).toBe(jobLimits.deliveries_replaced_max);
    expect((await table.kinds(job_id)).filter(kind => kind === 'job_delivered')).toHaveLength(
      1 + jobLimits.deliveries_replaced_max,
    );
    expect((await table.refuse(POSTER, job_id, String(job.outputSha256))).status).toBe('picked');
  });

  it('that is refused may be followed by another until the deadline; sent late, what was said of it changes nothing', async () => {
    const job_id = await broughtTo('delivered');
    const refused = await table.refuse(POSTER, job_id);
    expect(refused).toMatchObject({ status: 'picked', delivered: false, outputSha256: null, refusals: 1 });
    await expect(table.deliver(2, job_id)).rejects.toMatchObject({ code: 'output_refused' });
    expect(await table.deliver(2, job_id, hash(1))).toMatchObject({ status: 'delivered', outputSha256: hash(1) });
    expect(await table.refuse(POSTER, job_id)).toMatchObject({ status: 'delivered', refusals: 1 });
    expect(await table.refuse(POSTER, job_id, hash(1))).toMatchObject({ status: 'refused', refusals: 2 });
    await expect(table.deliver(2, job_id, hash(2))).rejects.toMatchObject({ code: 'job_state_conflict' });
    await expect(payableJob(database, job_id)).rejects.toMatchObject({ code: 'job_state_conflict' });
    expect((await table.kinds(job_id)).slice(-4)).toEqual([
      'job_delivered',
      'job_delivery_refused',
      'job_delivered',
      'job_refused',
    ]);
  });

  it('that is refused ends its job where none follows by the deadline, or none could', async () => {
    const [waiting, late] = [await broughtTo('delivered'), await broughtTo('delivered')];
    await table.refuse(POSTER, waiting);
    await table.passDeadline(late);
    expect((await table.refuse(POSTER, late)).status).toBe('refused');
    await table.pass(waiting);
    const shown = await listJobs(database, { status: 'refused', limit: 50 });
    expect(shown.jobs.map(({ jobId }) => jobId)).toEqual(expect.arrayContaining([waiting, late]));
    const expired = await listJobs(database, { status: 'expired', limit: 50 });
    expect(expired.jobs.map(({ jobId }) => jobId)).not.toContain(waiting);
    await expect(table.deliver(2, waiting, hash(1))).rejects.toMatchObject({ code: 'job_state_conflict' });
    await expireJobs(database);
    for (const job_id of [waiting, late]) {
      expect((await table.read(job_id)).job.state).toBe('refused');
      expect((await table.kinds(job_id)).at(-1)).toBe('job_refused');
    }
  });
});

describe('a job that is cancelled', () => {
  it('or picked at once is one of both, and its bids are over', async () => {
    for (let round = 0; round < 8; round++) {
      const job_id = await table.post(POSTER);
      await table.bid(2, job_id);
      const [bid] = await table.bids(job_id);
      const [cancelled, picked] = await Promise.all([
        settled([table.cancel(POSTER, job_id)]),
        settled([table.pick(POSTER, job_id, bid?.bidId ?? '')]),
      ]);
      expect([cancelled[0], picked[0]].sort()).toEqual(['done', 'job_state_conflict']);
      const { job } = await table.read(job_id);
      expect(job.state).toBe(cancelled[0] === 'done' ? 'cancelled' : 'picked');
      const [after] = await table.bids(job_id);
      expect(after?.status).toBe(cancelled[0] === 'done' ? 'expired' : 'picked');
      if (cancelled[0] === 'done') expect(await table.cancel(POSTER, job_id)).toMatchObject({ status: 'cancelled' });
    }
  });

  it('takes no bid that its stamp settles for later: it is recorded as expired', async () => {
    const job_id = await table.post(POSTER);
    await table.cancel(POSTER, job_id);
    await expect(table.bid(2, job_id)).rejects.toMatchObject({ code: 'job_state_conflict' });
    expect(await table.recordLate(2, job_id, { price: '900', revision: 1 })).toMatchObject({ status: 'expired' });
    await table.pass(job_id);
    expect(await expireJobs(database)).toBe(0);
  });
});

describe('a process that is killed while it writes a reveal', () => {
  it('leaves the job paid and nothing of the output, and the same reveal is taken by another', async () => {
    const job_id = await broughtTo('paid');
    const program = [...programOf('test/harness/board/reveal-and-die.child.ts'), database.url];
    const dying = spawn(process.execPath, [...program, job_id, '2'], { stdio: ['ignore', 'ignore', 'inherit'] });
    const [, signal] = await once(dying, 'exit');
    expect(signal).toBe('SIGKILL');
    expect((await table.read(job_id)).job).toMatchObject({ state: 'paid', closedAt: null });
    expect(
      await database.query({ text: 'select 1 from board_job_output where job_id = $1', values: [job_id] }),
    ).toEqual([]);
    const kinds = await table.kinds(job_id);
    expect((await table.reveal(2, job_id)).status).toBe('closed');
    const read = await outputOfJob(table.acting, agentId(POSTER), job_id);
    expect(read.untrustedOutput).toBe(OUTPUT);
    expect(await table.kinds(job_id)).toEqual([...kinds, 'job_closed']);
  });
});

describe('what runs out', () => {
  it('ends by its time, bids and all: for steps at once, and written down by one of two rounds', async () => {
    const open = await table.post(POSTER);
    await table.bid(2, open);
    const jobs = [open, await broughtTo('picked'), await broughtTo('delivered')];
    const paid = await broughtTo('paid');
    for (const job_id of [...jobs, paid]) await table.pass(job_id);
    await expect(table.bid(3, open)).rejects.toMatchObject({ code: 'job_state_conflict' });
    await expect(table.deliver(2, jobs[1] ?? '')).rejects.toMatchObject({ code: 'job_state_conflict' });
    await expect(payableJob(database, jobs[2] ?? '')).rejects.toMatchObject({ code: 'job_state_conflict' });
    const rounds = await Promise.all([expireJobs(database), expireJobs(database)]);
    expect(rounds.reduce((sum, ended) => sum + ended)).toBe(3);
    for (const job_id of jobs) {
      expect((await table.read(job_id)).job.state).toBe('expired');
      expect((await table.kinds(job_id)).at(-1)).toBe('job_expired');
    }
    expect((await table.bids(open)).map(({ status }) => status)).toEqual(['expired']);
    expect((await table.read(paid)).job.state).toBe('paid');
  });

  it('does not end while its first leg is being paid, or is paid; a payment that settles late is recorded', async () => {
    const [paying, half, late] = [
      await broughtTo('delivered'),
      await broughtTo('delivered'),
      await broughtTo('delivered'),
    ];
    await claim(database, claimRequest('pays a first leg', { slots: [legSlot(paying)] }));
    await database.query({ text: `update board_job set leg_one_task_id = 'task_1' where job_id = $1`, values: [half] });
    for (const job_id of [paying, half, late]) await table.pass(job_id);
    expect(await expireJobs(database)).toBe(1);
    expect((await payableJob(database, paying)).legs.winner.amount_atomic).toBe(1_000n);
    expect((await payableJob(database, half)).legs.fee.amount_atomic).toBe(2_010n);
    await table.settle(late);
    expect((await table.read(late)).job).toMatchObject({ state: 'paid', payoutTaskId: `task_of_${late}` });
    await table.settle(late);
    expect((await table.kinds(late)).slice(-2)).toEqual(['job_expired', 'job_paid']);
  });

  it('a bid whose job was picked as its stamp settled is recorded as expired, and changes nothing', async () => {
    const job_id = await table.post(POSTER);
    const first = await table.bid(2, job_id, '500');
    await table.pick(POSTER, job_id, String(first?.bid_id));
    const kinds = await table.kinds(job_id);
    const late = await table.recordLate(2, job_id, { price: '900', revision: 2 });
    expect(late).toMatchObject({ status: 'expired', revision: 2, price: '900' });
    expect((await table.read(job_id)).job).toMatchObject({
      priceAtomic: 500n,
      pickedBidId: first?.bid_id,
      bidCount: 1,
    });
    expect((await table.bids(job_id)).map(({ status }) => status)).toEqual(['picked', 'expired']);
    expect(await table.kinds(job_id)).toEqual(kinds);
  });

  it('an output is gone after thirty days, and forgotten by the next round', async () => {
    const job_id = await broughtTo('paid');
    await table.reveal(2, job_id);
    await database.query({
      text: `update board_job_output set kept_until = clock_timestamp() where job_id = $1`,
      values: [job_id],
    });
    await expect(outputOfJob(table.acting, agentId(POSTER), job_id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await forgetOutputs(database)).toBe(1);
    expect((await table.reveal(2, job_id)).status).toBe('closed');
    expect(await forgetOutputs(database)).toBe(0);
  });
});
