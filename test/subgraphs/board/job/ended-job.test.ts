import { beforeAll, describe, expect, it } from 'vitest';
import { type JobState, jobStates } from '../../../../schema/board/job.ts';
import { JobPage } from '../../../../schema/requests/board-job.ts';
import { wordList } from '../../../../schema/words.ts';
import { expireJobs } from '../../../../subgraphs/board/job/expire.ts';
import { legSlot } from '../../../../subgraphs/board/job/legs.ts';
import { listJobs, shownJobs } from '../../../../subgraphs/board/job/list.ts';
import { jobTable } from '../../../harness/board/job-table.ts';
import { claim, claimRequest } from '../../../harness/claim/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

/* An expired job is shown as such at once, even before the periodic task has recorded it. Here that task runs only when a test calls it. */

let database: Awaited<ReturnType<typeof freshStore>>;
let table: ReturnType<typeof jobTable>;
beforeAll(async () => {
  database = await freshStore();
  table = jobTable(database);
});

const [POSTER, WINNER, OTHER] = [1, 2, 3];

/** A job in that state, with two bids of which the first wins. */
async function brought(state: JobState): Promise<string> {
  const job_id = await table.post(POSTER);
  const { bid_id } = (await table.bid(WINNER, job_id)) ?? {};
  await table.bid(OTHER, job_id);
  if (state !== 'open') await table.pick(POSTER, job_id, String(bid_id));
  if (state === 'delivered' || state === 'paid') await table.deliver(WINNER, job_id);
  if (state === 'paid') await table.pay(job_id);
  return job_id;
}

const listed = async (status: JobState, members: object = {}) =>
  (await listJobs(database, JobPage.parse({ status, limit: 100, ...members }))).jobs;
const stored = async (job_id: string) => (await table.read(job_id)).job.state;
/** The state that a job shows, and the lists that contain it. */
async function shown(job_id: string) {
  const [job] = await shownJobs(database, [job_id]);
  const among: JobState[] = [];
  for (const status of wordList(jobStates)) {
    const found = (await listed(status)).find(({ jobId }) => jobId === job_id);
    if (found) among.push(found.status);
    if (found) expect(found.status).toBe(status);
  }
  const all = await listJobs(database, JobPage.parse({ limit: 100 }));
  return [job?.status, among, all.jobs.find(({ jobId }) => jobId === job_id)?.status];
}

describe('a job that is over', () => {
  it.each(['open', 'picked', 'delivered'] as const)(
    'reads as expired before any round, and so do the open bids for it: %s',
    async state => {
      const job_id = await brought(state);
      expect(await shown(job_id)).toEqual([state, [state], state]);
      const bids = (await table.bids(job_id)).map(({ status }) => status);
      await table.pass(job_id);
      expect(await shown(job_id)).toEqual(['expired', ['expired'], 'expired']);
      expect(await stored(job_id)).toBe(state);
      const over = (await table.bids(job_id)).map(({ status }) => status);
      expect(over).toEqual(bids.map(status => (status === 'open' ? 'expired' : status)));
      await expireJobs(database);
      expect(await stored(job_id)).toBe('expired');
      expect(await shown(job_id)).toEqual(['expired', ['expired'], 'expired']);
      expect((await table.bids(job_id)).map(({ status }) => status)).toEqual(over);
    },
  );

  it('is no more what its last step had made it, when that is asked for again', async () => {
    const picked = await brought('picked');
    const delivered = await brought('delivered');
    for (const job_id of [picked, delivered]) await table.pass(job_id);
    const { pickedBidId } = (await table.read(picked)).job;
    expect(await table.pick(POSTER, picked, String(pickedBidId))).toMatchObject({ status: 'expired' });
    await expect(table.deliver(WINNER, delivered)).rejects.toMatchObject({ code: 'job_state_conflict' });
  });

  it('is none while its first leg is being paid, nor once anything of it is', async () => {
    const paying = await brought('delivered');
    await claim(database, claimRequest(`task_of_${paying}`, { slots: [legSlot(paying)] }));
    await table.pass(paying);
    expect(await shown(paying)).toEqual(['delivered', ['delivered'], 'delivered']);
    const paid = await brought('paid');
    await table.pass(paid);
    expect(await shown(paid)).toEqual(['paid', ['paid'], 'paid']);
  });

  it('stands among those that were written down as such, newest first, page by page', async () => {
    const made = [];
    for (let at = 0; at < 6; at++) {
      const job_id = await table.post(POSTER);
      await table.pass(job_id);
      if (at % 2 === 0) await expireJobs(database);
      made.push(job_id);
    }
    const seen: string[] = [];
    for (let before: string | null | undefined; before !== null && seen.length < made.length; ) {
      const page = await listJobs(database, JobPage.parse({ status: 'expired', limit: 2, ...(before && { before }) }));
      seen.push(...page.jobs.map(({ jobId }) => jobId));
      before = page.next;
    }
    expect(seen).toEqual(made.toReversed());
  });
});
