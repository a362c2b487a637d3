import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TaskId } from '../../../../schema/ids.ts';
import { limits } from '../../../../schema/limits.ts';
import { correct } from '../../../../subgraphs/book/ledger/correct.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { forgetClaims } from '../../../../subgraphs/receipt/claim/forget.ts';
import { CALL_SECONDS_MAX, PROCESS_GENERATION } from '../../../../subgraphs/receipt/claim/lease.ts';
import { keepRerun, renewRerun, takeRerun } from '../../../../subgraphs/receipt/claim/rerun.ts';
import { verifyDispute } from '../../../../subgraphs/receipt/verify/dispute.ts';
import {
  claim,
  claimRequest,
  heldLease,
  OTHER,
  OWNER,
  recordClaim,
  startSettling,
} from '../../../harness/claim/fixture.ts';
import { boundRequest, disputedCall, FIELD, filing, SALT } from '../../../harness/ledger/disputes.ts';
import { collectAll, issuer, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

/* A charge is either refunded or its payment brings the answer, never both, in any order. */

let database: Database;
let file: ReturnType<typeof filing>;
let agents = 100;
beforeAll(async () => {
  database = await freshStore();
  file = filing(database);
  await lives(OWNER);
});

/** Inserts the lease of a process that is alive or has died. */
const leaseOf = (owner: string, ends: string, generation: number = PROCESS_GENERATION) =>
  database.query({
    text: `insert into process_lease (owner, expires_at, generation) values ($1, now() + ${ends}, $2)`,
    values: [owner, generation],
  });
const lives = (owner: string) => leaseOf(owner, `interval '1 hour'`);
const died = async (generation?: number) => {
  const owner = randomUUID();
  await leaseOf(owner, `interval '-1 second'`, generation);
  return owner;
};

const omitted = { status: 'UNVERIFIED', hash: null, kind: null, omission_rule: 'process_ended' };
const KEPT = `interval '${limits.answer_kept_hours} hours'`;

interface OwedCall {
  readonly agent: number;
  readonly task_id: string;
  readonly claim_key: string;
}

const ASKED = { model: 'beta-1', messages: [] };
/** The members of the call as they are recorded before its work. */
const said = {
  hub: '',
  model: '',
  request_hash: boundRequest(ASKED),
  fulfillment: { output_commitment: omitted },
} as const;

/** Calls of one book that were recorded that long ago and whose processes ended before they answered. */
async function unanswered(
  count: number,
  recorded_ago: string,
  field: string = 'Mutation.createChatCompletion',
): Promise<readonly OwedCall[]> {
  const agent = ++agents;
  await withBooks(database, agent);
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  await database.transaction(tx =>
    collectAll(
      tx,
      numbers.map(number => disputedCall(agent, agent * 1_000 + number, said)),
    ),
  );
  const owed = numbers.map(number => {
    const task_id = `task_${agent}_${agent * 1_000 + number}`;
    return { agent, task_id, claim_key: `claim of ${task_id}` };
  });
  for (const { task_id, claim_key } of owed) {
    const [outcome] = await claim(database, claimRequest(claim_key, { task_id: task_id as TaskId, field }));
    await startSettling(database, heldLease(outcome));
    await recordClaim(database, heldLease(outcome));
  }
  const text = `update payment_claim set moved_at = now() - ${recorded_ago} where task_id = any($1)`;
  await database.query({ text, values: [owed.map(it => it.task_id)] });
  return owed;
}

const missing = ({ agent, task_id }: OwedCall, note = 0) =>
  file(agent, { task_id, claim_type: 'output_missing', evidence: { note } });
const take = ({ claim_key }: OwedCall, owner = OWNER) =>
  database.transaction(tx => takeRerun(tx, { claim_key, owner }));
const keep = ({ task_id, claim_key }: OwedCall, owner = OWNER) =>
  database.transaction(async tx => {
    const kept = await keepRerun(tx, { claim_key, owner }, Buffer.from('the answer'));
    if (kept === 'kept') await correct(tx, [{ task_id, body: { reason: 'answered_on_resend' } }]);
    return kept;
  });
const one = async (recorded_ago: string, field?: string) => (await unanswered(1, recorded_ago, field))[0] as OwedCall;
const claimedAgo = ({ task_id }: OwedCall, ago: string) =>
  database.query({
    text: `update payment_claim set moved_at = now() - (${ago}) where task_id = $1`,
    values: [task_id],
  });
/** A call that a process took in time, and on which it still works when the payment is that old. */
async function takenBefore(ago: string, owner = OWNER, field?: string): Promise<OwedCall> {
  const owed = await one(`interval '1 hour'`, field);
  expect(await take(owed, owner)).toMatchObject({ kind: 'taken' });
  await claimedAgo(owed, ago);
  return owed;
}
const renew = ({ claim_key }: OwedCall, owner = OWNER) =>
  database.transaction(tx => renewRerun(tx, { claim_key, owner }));
const STREAMED = 'Subscription.chatCompletionStream';
/** Sets the time at which work for the call began. */
const begunBefore = ({ task_id }: OwedCall, ago: string) =>
  database.query({
    text: `update payment_claim set rerun_at = now() - interval '${ago}' where task_id = $1`,
    values: [task_id],
  });
/** The statement by which a process of the previous version deletes what is a day old, without checking whether a process works on it. */
const forgetAsBefore = () =>
  database.query({
    text: `update payment_claim set answer_box = null, request_box = '' where claim_key in (
        select claim_key from payment_claim
        where state = 'recorded' and request_box <> '' and moved_at < now() - make_interval(hours => $2)
        limit $1 for update skip locked) returning 1`,
    values: [1_000, limits.answer_kept_hours],
  });
const requestOf = async ({ task_id }: OwedCall) => {
  const text = `select request_box <> '' as kept from payment_claim where task_id = $1`;
  return (await database.query<{ kept: boolean }>({ text, values: [task_id] }))[0]?.kept;
};

describe('output_missing of a payment that came without its answer', () => {
  it('is open for as long as the same payment may bring it, and says until when; the answer decides it', async () => {
    const owed = await one(`interval '1 hour'`);
    const { dispute, verdict } = await missing(owed);
    expect(dispute).toMatchObject({ outcome: null, reason: 'answer_still_owed' });
    const [claimed] = await database.query<{ until: Date }>({
      text: `select moved_at + ${KEPT} as until from payment_claim where task_id = $1`,
      values: [owed.task_id],
    });
    expect(dispute.decidesAfter).toEqual(claimed?.until);
    expect(verdict).toMatchObject({ decides_after: claimed?.until.toISOString(), final: false });
    expect(verifyDispute(verdict, issuer.jwks)).toMatchObject({ kind: 'valid' });
    expect(await take(owed)).toMatchObject({ kind: 'taken' });
    expect(await keep(owed)).toBe('kept');
    expect((await missing(owed)).dispute).toMatchObject({
      outcome: 'stand',
      reason: 'answered_on_resend',
      revision: 2,
    });
  });

  it('is a refund from then on, and the payment brings no answer any more', async () => {
    const owed = await one(KEPT);
    const { dispute, verdict } = await missing(owed);
    expect(dispute).toMatchObject({ outcome: 'refund', reason: 'output_not_kept', refundOf: owed.task_id });
    expect(verdict).toMatchObject({ owed_back: { task_id: owed.task_id, amount: '2000' }, final: true });
    expect(verifyDispute(verdict, issuer.jwks)).toMatchObject({ kind: 'valid' });
    expect(await take(owed)).toEqual({ kind: 'gone' });
  });

  it('waits for a process that is answering when that time is over', async () => {
    const owed = await takenBefore(KEPT);
    const { dispute } = await missing(owed);
    expect(dispute).toMatchObject({ outcome: null, reason: 'answer_still_owed' });
    expect(dispute.decidesAfter?.getTime()).toBeGreaterThan(dispute.judgedAt.getTime());
    await keep(owed);
    expect((await missing(owed)).dispute).toMatchObject({ outcome: 'stand', reason: 'answered_on_resend' });
  });

  it('waits also where that process is not seen to live, for as long as its call may take; then it keeps no answer', async () => {
    const owed = await takenBefore(KEPT, OTHER);
    expect((await missing(owed)).dispute).toMatchObject({ outcome: null, reason: 'answer_still_owed' });
    await database.query({
      text: `update payment_claim set rerun_at = now() - interval '${CALL_SECONDS_MAX} seconds' where task_id = $1`,
      values: [owed.task_id],
    });
    expect((await missing(owed)).dispute).toMatchObject({ outcome: 'refund' });
    expect(await keep(owed, OTHER)).toBe('closed');
  });

  it.each([OWNER, OTHER])('waits though its day is over and what is old was forgotten meanwhile (%s)', async owner => {
    const owed = await takenBefore(`interval '25 hours'`, owner);
    await forgetClaims(database, {
      answer_hours: limits.answer_kept_hours,
      lapsed_seconds: 3_600,
      reverted_seconds: 0,
    });
    expect((await missing(owed)).dispute).toMatchObject({ outcome: null, reason: 'answer_still_owed' });
    expect(await keep(owed, owner)).toBe('kept');
    expect((await missing(owed)).dispute).toMatchObject({ outcome: 'stand', reason: 'answered_on_resend' });
  });

  it('states again when it decides where a resend goes on past the time that was stated', async () => {
    const owed = await takenBefore(KEPT);
    const first = await missing(owed);
    await begunBefore(owed, '100 seconds');
    const second = await missing(owed);
    expect(second.dispute.decidesAfter).not.toEqual(first.dispute.decidesAfter);
    // A repeated delivery that starts now may take the full time again.
    expect(await renew(owed)).toBe('held');
    const third = await missing(owed);
    expect(third.dispute).toMatchObject({ outcome: null, reason: 'answer_still_owed', revision: 3 });
    const stated = third.dispute.decidesAfter?.getTime() ?? 0;
    expect(stated).toBeGreaterThan(third.dispute.judgedAt.getTime());
    expect(stated).toBeGreaterThan(second.dispute.decidesAfter?.getTime() ?? 0);
    expect(third.verdict).toMatchObject({ supersedes: third.dispute.supersedes, revision: 3 });
    expect(verifyDispute(third.verdict, issuer.jwks)).toMatchObject({ kind: 'valid' });
    // Nothing has changed since, so no new verdict is signed.
    expect((await missing(owed)).dispute).toMatchObject({ revision: 3 });
  });

  it('is a refund once the lease of the process that worked for a whole answer has run out, and that one keeps none', async () => {
    const owner = await died();
    const owed = await takenBefore(KEPT, owner);
    expect((await missing(owed)).dispute).toMatchObject({ outcome: 'refund', reason: 'output_not_kept' });
    expect(await renew(owed, owner)).toBe('closed');
    expect(await keep(owed, owner)).toBe('closed');
    expect(await take(owed)).toEqual({ kind: 'gone' });
  });

  it.each([
    ['a stream, whose text may have gone out', STREAMED, PROCESS_GENERATION],
    ['the version before, which lets an answer out that it has not kept', undefined, 0],
  ])(
    'waits for a call of a process that has died where it is of %s, and states until when',
    async (_, field, generation) => {
      const owed = await takenBefore(KEPT, await died(generation), field);
      const { dispute } = await missing(owed);
      expect(dispute).toMatchObject({ outcome: null, reason: 'answer_still_owed' });
      const [work] = await database.query<{ ends: Date }>({
        text: `select rerun_at + interval '${CALL_SECONDS_MAX} seconds' as ends from payment_claim where task_id = $1`,
        values: [owed.task_id],
      });
      expect(dispute.decidesAfter).toEqual(work?.ends);
    },
  );

  it('waits though a process of the version before forgets what is old: its statement leaves what is worked for', async () => {
    const owed = await takenBefore(`interval '25 hours'`, OWNER, STREAMED);
    const idle = await one(`interval '25 hours'`);
    await forgetAsBefore();
    expect([await requestOf(owed), await requestOf(idle)]).toEqual([true, false]);
    expect(await renew(owed)).toBe('held');
    await forgetAsBefore();
    expect(await keep(owed)).toBe('kept');
    expect((await missing(owed)).dispute).toMatchObject({ outcome: 'stand', reason: 'answered_on_resend' });
    // The stored answer is deleted after its time.
    await forgetAsBefore();
    expect(await requestOf(owed)).toBe(false);
    const late = await takenBefore(`interval '25 hours'`, OWNER, STREAMED);
    await begunBefore(late, `${CALL_SECONDS_MAX} seconds`);
    await forgetAsBefore();
    expect(await requestOf(late)).toBe(false);
  });

  it('is refunded by no process of the version before, which names no charge and lets the payment bring its answer', async () => {
    const owed = await one(`interval '1 hour'`);
    const { dispute } = await missing(owed);
    expect(dispute).toMatchObject({ outcome: null });
    const columns = 'agent_id, seq, task_id, claim_type, position, filed_at, judged_at, verdict';
    const filedAnew = `insert into dispute (dispute_id, evidence_hash, outcome, reason, ${columns})
      select dispute_id || '2', 'another', 'refund', 'output_not_kept', ${columns} from dispute where dispute_id = $1`;
    const judgedAgain = `update dispute set outcome = 'refund', reason = 'output_not_kept', position = position, judged_at = now()
      where dispute_id = $1 and outcome is distinct from 'refund'`;
    for (const text of [filedAnew, judgedAgain])
      await expect(database.query({ text, values: [dispute.disputeId] })).rejects.toThrow('a refund names the charge');
    expect(await take(owed)).toMatchObject({ kind: 'taken' });
  });

  it('races with the same payment: of 200 calls each is refunded or answered, and none is both', async () => {
    // Several books, because one may file only a limited number of disputes in an hour.
    const owed = [];
    for (let book = 0; book < 5; book++) owed.push(...(await unanswered(40, KEPT)));
    const rounds = owed.length;
    const ends: string[] = [];
    const race = async (each: OwedCall, at: number) => {
      const turns = async (count: number) => {
        for (let done = 0; done < count; done++) await turn();
      };
      const dispute = async () => {
        await turns(at % 7);
        return (await missing(each, at)).dispute.outcome;
      };
      const resend = async () => {
        await turns(at % 5);
        const { kind } = await take(each);
        await turns(at % 3);
        return kind === 'taken' ? keep(each) : kind;
      };
      // The day of the payment ends during the race.
      await claimedAgo(each, `${KEPT} - interval '${at % 12} milliseconds'`);
      const [first, answer, second] = await Promise.all([dispute(), resend(), dispute()]);
      const judged = async () => (await missing(each, at)).dispute.outcome;
      let last = await judged();
      while (last === null) last = await judged();
      const refunded = [first, second, last].includes('refund');
      expect({ task: each.task_id, refunded, answered: answer === 'kept' }).toEqual({
        task: each.task_id,
        refunded: answer !== 'kept',
        answered: answer === 'kept',
      });
      expect(last).toBe(refunded ? 'refund' : 'stand');
      ends.push(answer);
    };
    const waiting = owed.map((each, at) => ({ each, at }));
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let next = waiting.shift(); next; next = waiting.shift()) await race(next.each, next.at);
      }),
    );
    expect(ends).toHaveLength(rounds);
    const [refunds] = await database.query<{ both: number }>({
      text: `select count(*)::int as both from dispute d join payment_claim c using (task_id)
        where d.outcome = 'refund' and c.answer_box is not null`,
    });
    expect(refunds).toEqual({ both: 0 });
  });
});

describe('wrong_model of a payment that was recorded before its work', () => {
  it('is no refund: its receipt names no model, whether the answer came by a resend or not at all', async () => {
    const evidence = { request: { field: FIELD, args: ASKED }, salt: SALT };
    const owed = await one(`interval '1 hour'`);
    await take(owed);
    expect(await keep(owed)).toBe('kept');
    for (const each of [owed, await one(KEPT)]) {
      const { dispute, verdict } = await file(each.agent, {
        task_id: each.task_id,
        claim_type: 'wrong_model',
        evidence,
      });
      expect(dispute).toMatchObject({ outcome: 'stand', reason: 'no_model_on_receipt', refundOf: null });
      expect(verifyDispute(verdict, issuer.jwks)).toMatchObject({ kind: 'valid' });
    }
  });
});
