import fc from 'fast-check';
import { GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { type BidState, bidStates, type JobState, jobStates } from '../../../../schema/board/job.ts';
import { wordList } from '../../../../schema/words.ts';
import { feeSlot, legSlot } from '../../../../subgraphs/board/job/legs.ts';
import { insertRows } from '../../../../subgraphs/database.ts';
import { boardPages, storableText } from '../../../harness/board/written-pages.ts';

/* A page of jobs is written by Postgres where JSON is all that is wanted: it says what the resolvers say. */

const { database, board, both } = await boardPages();

/** Every field of a type, with every field of its objects. */
function everyField(name: string): string {
  const type = board.schema.getType(name);
  if (!(type instanceof GraphQLObjectType)) throw new Error(`${name} is no object`);
  const fields = Object.values(type.getFields()).map(({ name: field, type: of }) => {
    const beneath = getNamedType(of);
    return isObjectType(beneath) ? `${field} { ${everyField(beneath.name)} }` : field;
  });
  return ['__typename', ...fields].join(' ');
}

const ALL = everyField('BoardJob');

const time = fc.date({ noInvalidDate: true, min: new Date('2000-01-01'), max: new Date('2100-01-01') });
const amount = fc.bigInt({ min: 0n, max: 2n ** 128n }).map(String);
const maybe = <T>(it: fc.Arbitrary<T>) => fc.option(it);
const network = fc.constantFrom('base', 'solana');
const job = fc.record({
  state: fc.constantFrom(...(wordList(jobStates) as JobState[])),
  untrusted_text: storableText,
  untrusted_acceptance_test: maybe(storableText),
  budget_atomic: amount,
  deadline: time,
  // Long over, or not for decades.
  ends_at: fc.constantFrom(null, new Date('2001-01-01'), new Date('2099-01-01')),
  stamp_task_id: storableText,
  posted_at: time,
  bid_count: fc.nat(),
  hidden: fc.boolean(),
  picked_bid_id: maybe(storableText),
  winner_agent_id: maybe(fc.nat()),
  price_atomic: maybe(amount),
  network: maybe(network),
  pay_to: maybe(storableText),
  picked_at: maybe(time),
  output_sha256: maybe(storableText),
  untrusted_preview: maybe(storableText),
  delivered_at: maybe(time),
  refusals: fc.nat(2),
  deliveries_retired: fc.constant(0),
  refused_output_sha256: maybe(storableText),
  untrusted_refusal_reason: maybe(storableText),
  refused_at: maybe(time),
  cancelled_at: maybe(time),
  leg_one_task_id: maybe(storableText),
  leg_one_payment_ref: maybe(storableText),
  fee_payment_ref: maybe(storableText),
  payout_task_id: maybe(storableText),
  paid_at: maybe(time),
  challenged_at: maybe(time),
  untrusted_challenge_reason: maybe(storableText),
  closed_at: maybe(time),
});
const bid = fc.record({
  state: fc.constantFrom(...(wordList(bidStates) as BidState[])),
  price_atomic: amount,
  untrusted_eta: maybe(storableText),
  untrusted_pitch: maybe(storableText),
  network,
  pay_to: storableText,
  stamp_task_id: storableText,
  bid_at: time,
});
/** Whether a payment of the job holds its slot. */
const slots = fc.record({ leg: fc.boolean(), fee: fc.boolean() });
const made = fc.record({ job, bids: fc.array(bid, { maxLength: 3 }), slots });

let number = 0;
const nameOf = (at: number) => String(at).padStart(26, '0');

type MadeJob = typeof made extends fc.Arbitrary<infer T> ? T : never;

async function addJobs(all: readonly MadeJob[]) {
  const jobs = all.map(it => ({ ...it, job_id: `job_${nameOf(++number)}` }));
  await database.transaction(async tx => {
    insertRows(
      tx,
      'board_job',
      jobs.map(it => ({ ...it.job, job_id: it.job_id, agent_id: 1 })),
    );
    const bids = jobs.flatMap(({ job_id, bids: of }) =>
      of.map((it, at) => ({ ...it, job_id, bid_id: `bid_${nameOf(++number)}`, agent_id: at + 2, revision: 1 })),
    );
    insertRows(tx, 'board_bid', bids);
    for (const { job_id, slots: held } of jobs) {
      const taken = [...(held.leg ? [legSlot(job_id)] : []), ...(held.fee ? [feeSlot(job_id)] : [])];
      for (const slot of taken)
        tx.write({
          text: 'insert into claim_slot (slot, claim_key) values ($1, $2)',
          values: [slot, `claim of ${slot}`],
        });
    }
  });
  return jobs;
}

it('says whatever a job holds as its resolvers do, in whatever state it is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(made, { minLength: 1, maxLength: 3 }), async all => {
      const jobs = await addJobs(all);
      const shown = jobs.filter(it => !it.job.hidden).reverse();
      const limit = Math.max(shown.length, 1);
      const { page } = await both(`boardJobs(limit: ${limit}) { jobs { ${ALL} } next }`);
      expect(page.jobs.slice(0, shown.length)).toMatchObject(
        shown.map(({ job_id: jobId, job: { untrusted_text: untrustedText } }) => ({ jobId, untrustedText })),
      );
    }),
    { numRuns: 100 },
  );
});

it.each(['', ', posterAgentId: 1', ', winnerAgentId: 7'])(
  'goes on page by page to the last job of each status%s',
  async by => {
    for (const status of [null, ...wordList(jobStates)]) {
      const seen: string[] = [];
      for (let before: string | null = ''; before !== null; ) {
        const asked = [status ? `, status: ${status}` : '', before ? `, before: "${before}"` : '', by].join('');
        const { page } = await both(`boardJobs(limit: 20${asked}) { jobs { jobId status } next }`);
        seen.push(...page.jobs.map(({ jobId }: { jobId: string }) => jobId));
        if (status) expect(page.jobs.every((one: { status: string }) => one.status === status)).toBe(true);
        before = page.next;
      }
      expect(seen).toEqual([...new Set(seen)].sort().reverse());
    }
  },
);

it('takes any selection: none of the jobs, jobs under two names, and fragments', async () => {
  await both('boardJobs { next }');
  await both('boardJobs(limit: 3) { a: jobs { jobId } b: jobs { status ...on BoardJob { legs { leg } } } next }');
});
