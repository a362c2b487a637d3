import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { type JobAction, type JobState, jobActions } from '../../../../schema/board/job.ts';
import { Refusal } from '../../../../schema/errors.ts';
import { agentId } from '../../../../schema/ids.ts';
import { expireJobs } from '../../../../subgraphs/board/job/expire.ts';
import { jobStandingOf } from '../../../../subgraphs/board/job/find.ts';
import { jobMoves, judgeJob } from '../../../../subgraphs/board/job/job.machine.ts';
import { outputOfJob } from '../../../../subgraphs/board/job/output.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { jobTable, OUTPUT, OUTPUT_SHA256 } from '../../../harness/board/job-table.ts';
import { freshStore } from '../../../harness/store.ts';

/*
 * Random walks of jobs between four agents, and a walk to each state. A job moves only as the table allows, and its events describe exactly
 * that walk.
 */

let database: Database;
let table: ReturnType<typeof jobTable>;
beforeAll(async () => {
  database = await freshStore();
  table = jobTable(database);
});

const POSTER = 1;
const OTHER_OUTPUT = 'Something else';
const OTHER_SHA256 = createHash('sha256').update(OTHER_OUTPUT).digest('hex');

interface Step {
  readonly agent: number;
  readonly action: JobAction | 'forward' | 'over' | 'round' | 'settle_late';
  readonly wrong: boolean;
  /** Whether a permitted agent takes the step instead of `agent`. */
  readonly right: boolean;
}

const walks = fc.array(
  fc.record<Step>({
    agent: fc.integer({ min: 1, max: 4 }),
    /** Half of the steps are allowed ones, because otherwise few walks would get far. */
    action: fc.oneof(
      { weight: 6, arbitrary: fc.constant('forward' as const) },
      { weight: 5, arbitrary: fc.constantFrom(...jobActions) },
      { weight: 1, arbitrary: fc.constantFrom('over' as const, 'round' as const, 'settle_late' as const) },
    ),
    wrong: fc.boolean(),
    right: fc.integer({ min: 0, max: 3 }).map(roll => roll > 0),
  }),
  { minLength: 8, maxLength: 30 },
);

/** Runs a step. Returns `done` or the code of its refusal. */
async function resultOf(step: () => Promise<unknown>): Promise<string> {
  try {
    await step();
    return 'done';
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

/** The next step towards the end of a job: first a bid, then the last step that its state allows. */
function next({ state, bidCount }: { readonly state: JobState; readonly bidCount: number }): JobAction {
  const forward = jobActions.filter(action => action !== 'cancel' && action !== 'refuse' && action !== 'challenge');
  const legal = forward.filter(action => jobMoves[action].from.includes(state));
  return (state === 'open' && bidCount === 0 ? legal[0] : legal.at(-1)) ?? 'reveal';
}

/** State of a job after each event. */
const leads: Readonly<Record<string, string>> = {
  job_posted: 'open',
  job_bid: 'open',
  job_picked: 'picked',
  job_delivered: 'delivered',
  job_delivery_refused: 'picked',
  job_refused: 'refused',
  job_cancelled: 'cancelled',
  job_paid: 'paid',
  job_challenged: 'paid',
  job_closed: 'closed',
  job_expired: 'expired',
};

/** Walks a new job and checks each step against the table. @returns the final state */
async function walk(steps: readonly Step[]): Promise<JobState> {
  const job_id = await table.post(POSTER);
  for (const { action: asked, agent: drawn, wrong, right } of steps) {
    const found = await table.read(job_id);
    const { job } = found;
    const action = asked === 'forward' ? next(job) : asked;
    const before = jobStandingOf(found);
    const is_refused = (sha256: string) => job.refusedOutputSha256 === sha256;
    const sha256 = wrong || is_refused(OUTPUT_SHA256) ? OTHER_SHA256 : OUTPUT_SHA256;
    if (action === 'over') await table.pass(job_id);
    if (action === 'round') await expireJobs(database);
    // Money that has moved is recorded in any state of the job, but only if something was delivered for it.
    if (action === 'settle_late') {
      await table.settle(job_id);
      const after = (await table.read(job_id)).job.state;
      const takes = job.deliveredAt !== null && (job.state === 'delivered' || job.state === 'expired');
      expect(after).toBe(takes ? 'paid' : job.state);
    }
    if (action === 'over' || action === 'round' || action === 'settle_late') continue;
    const acts = { poster: POSTER, winner: job.winnerAgentId, bidder: 2 }[jobMoves[action].by];
    const agent = right ? (acts ?? drawn) : drawn;
    const bids = await table.bids(job_id);
    const bid = bids.find(({ status }) => status === (wrong ? 'revised' : 'open')) ?? bids[0];
    const step = {
      bid: async () => expect(await table.bid(agent, job_id)).not.toBeNull(),
      pick: () => table.pick(agent, job_id, bid?.bidId ?? 'bid_of_nobody'),
      cancel: () => table.cancel(agent, job_id),
      deliver: () => table.deliver(agent, job_id, sha256),
      refuse: () => table.refuse(agent, job_id, job.outputSha256 ?? OUTPUT_SHA256),
      pay: () => table.pay(job_id),
      challenge: () => table.challenge(agent, job_id),
      reveal: () => table.reveal(agent, job_id, (job.outputSha256 === OUTPUT_SHA256) === wrong ? OTHER_OUTPUT : OUTPUT),
    }[action];
    const outcome = await resultOf(step);
    const after = (await table.read(job_id)).job;
    const judged = judgeJob(before, action);
    if (outcome !== 'done') expect(after.state).toBe(job.state);
    if (judged.kind === 'refused') {
      // A repeated request for a step already taken returns the current state.
      const again = {
        pick: job.pickedBidId === bid?.bidId,
        cancel: true,
        deliver: true,
        refuse: is_refused(job.outputSha256 ?? OUTPUT_SHA256),
        challenge: true,
        reveal: !wrong,
        bid: false,
        pay: false,
      };
      const repeated = again[action] && after.state === job.state && agent === acts;
      if (!repeated) expect(outcome).not.toBe('done');
    } else if (outcome === 'done') expect(after.state).toBe(judged.to);
    else if (outcome === 'output_refused' || outcome === 'deliveries_used') expect(action).toBe('deliver');
    else if (agent === acts && !wrong && action !== 'bid' && action !== 'pick') expect.fail(`${action}: ${outcome}`);
    if (action !== 'bid' && action !== 'pay' && agent !== acts) expect(outcome).toBe('not_a_party');
    if (action === 'bid' && agent === POSTER) expect(outcome).toBe('self_bid');
  }
  await audit(job_id);
  return (await table.read(job_id)).job.state;
}

it('a job moves by its table alone, whoever asks for what and whenever its time is over', async () => {
  await fc.assert(
    fc.asyncProperty(walks, async steps => void (await walk(steps))),
    { numRuns: 60 },
  );
});

const delivered = ['bid', 'pick', 'deliver'] as const;
/** Steps that lead to each state. */
const ways: Readonly<Record<JobState, readonly Step['action'][]>> = {
  open: ['bid'],
  picked: ['bid', 'pick'],
  delivered,
  paid: [...delivered, 'pay', 'challenge'],
  closed: [...delivered, 'pay', 'reveal'],
  expired: ['bid', 'over', 'round'],
  refused: [...delivered, 'refuse', 'deliver', 'refuse'],
  cancelled: ['bid', 'cancel'],
};

it.each(Object.entries(ways))('a job comes to be %s by %j', async (state, way) => {
  expect(await walk(way.map(action => ({ action, agent: 2, wrong: false, right: true })))).toBe(state);
});

/** Checks that the job, its bids and its events agree. */
async function audit(job_id: string): Promise<void> {
  const { job } = await table.read(job_id);
  const kinds = await table.kinds(job_id);
  expect(leads[kinds.at(-1) ?? '']).toBe(job.state);
  expect(kinds.filter(kind => kind === 'job_picked').length).toBe(job.pickedBidId === null ? 0 : 1);
  expect(kinds.filter(kind => kind === 'job_paid').length).toBe(job.payoutTaskId === null ? 0 : 1);
  const bids = await table.bids(job_id);
  expect(job.bidCount).toBe(new Set(bids.map(({ agentId: bidder }) => bidder)).size);
  const [picked, ...others] = bids.filter(({ status }) => status === 'picked');
  expect(others).toEqual([]);
  expect(picked?.bidId ?? null).toBe(job.pickedBidId);
  expect(picked?.price ?? null).toBe(job.priceAtomic);
  expect(picked?.payTo ?? null).toBe(job.payTo);
  expect(job.refusals).toBe(kinds.filter(kind => kind === 'job_delivery_refused').length + (job.refusals > 1 ? 1 : 0));
  if (job.state !== 'open') expect(bids.filter(({ status }) => status === 'open')).toEqual([]);
  const output = await resultOf(() => outputOfJob(table.acting, agentId(POSTER), job_id));
  expect(output).toBe(job.state === 'closed' ? 'done' : 'not_found');
}
