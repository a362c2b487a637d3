import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { openQueues } from '../../../../gateway/record/queues.ts';
import { atomicAmount } from '../../../../schema/amount.ts';
import { agentId } from '../../../../schema/ids.ts';
import { parsePolicy } from '../../../../schema/requests/policy.ts';
import { answerApproval } from '../../../../subgraphs/book/approval/answer.ts';
import { findApprovals, statusOfApproval } from '../../../../subgraphs/book/approval/find.ts';
import { BlockedCalls } from '../../../../subgraphs/book/ledger/blocked-calls.ts';
import { voidReservations } from '../../../../subgraphs/book/ledger/reserve.ts';
import { setPolicy } from '../../../../subgraphs/book/policy/set.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import type { Lease } from '../../../../subgraphs/receipt/claim/claim.ts';
import { abandoned, claimRequest, recorded, settling } from '../../../harness/claim/fixture.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';
import { refuser, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

/* An approval passes one call, whatever races: on the very statements that claim, release and record. */

let database: Database;
let queues: ReturnType<typeof openQueues>[];
beforeAll(async () => {
  database = await freshStore();
  const recorder = () => Promise.reject(new Error('nothing is recorded by this queue'));
  // Two, as two processes have: nothing is in memory that one knows and the other does not.
  queues = [1, 2].map(() => openQueues(database, recorder, { refuser, blocked_calls: new BlockedCalls() }, null));
});

const PRICE = atomicAmount(2000n);
let books = 0;
let keys = 0;

async function cautiousBook() {
  const id = ++books;
  await withBooks(database, id);
  await setPolicy(database, agentId(id), parsePolicy('tier2_above', '1999'));
  return agentId(id);
}

async function submit(agent: ReturnType<typeof agentId>, { hash = 'a', queue = 0, key = `key ${++keys}` } = {}) {
  const request = claimRequest(key, {
    ...{ request_hash: hash.repeat(64), amount_atomic: PRICE, means: { balance_atomic: 10n ** 12n, moved: [] } },
    landing: { paid_from_mark: 'mark' },
    approved: true,
  });
  const call = {
    field: request.field,
    model: null,
    models: [],
    intent_id: null,
    attempt_index: null,
    parent_ref: null,
  };
  const { outcome } = await (queues[queue] as (typeof queues)[number]).claim.submit({
    ...{ request, book: agent, holds_atomic: PRICE, call },
  });
  return { key, outcome };
}

const requests = (agent: ReturnType<typeof agentId>) => findApprovals(database, { agent_id: agent, limit: 200 });

/** Answers what is open for that hash; how many that were. */
async function approve(agent: ReturnType<typeof agentId>, hash = 'a'): Promise<number> {
  const open = (await requests(agent)).filter(it => it.requestHash[0] === hash && statusOfApproval(it) === 'open');
  for (const found of open)
    await database.transaction(tx => answerApproval(tx, found, { decision: 'approve', by: 'wallet' }));
  return open.length;
}

/** Lets go of a claim, as its call does, with what it holds on the book. */
async function release(agent: ReturnType<typeof agentId>, lease: Lease): Promise<void> {
  await abandoned(database, lease, true);
  await database.transaction(tx => voidReservations(tx, [{ agent_id: agent, amount: PRICE }]));
}

describe('an approval', () => {
  it('passes one of 1,000 claims that race for it, in two processes', async () => {
    const agent = await cautiousBook();
    expect((await submit(agent)).outcome.kind).toBe('blocked');
    expect(await approve(agent)).toBe(1);
    const racing = await Promise.all(Array.from({ length: 1_000 }, (_, index) => submit(agent, { queue: index % 2 })));
    const passed = racing.filter(({ outcome }) => outcome.kind === 'claimed');
    expect(passed).toHaveLength(1);
    expect(new Set(racing.map(({ outcome }) => outcome.kind))).toEqual(
      new Set(['claimed', 'blocked', 'blocked_too_often']),
    );
    // The others have left one request between them.
    expect((await requests(agent)).map(it => statusOfApproval(it))).toEqual(['open', 'passed']);
    const [one] = passed;
    if (one?.outcome.kind === 'claimed') await release(agent, one.outcome.lease);
    await auditBooks(database);
  });

  it('is given back once by a claim that is let go of, and stays used by one that is recorded', async () => {
    const agent = await cautiousBook();
    await submit(agent);
    await approve(agent);
    for (let times = 0; times < 3; times++) {
      const { outcome } = await submit(agent);
      if (outcome.kind !== 'claimed') throw new Error(`not claimed but ${outcome.kind}`);
      expect((await submit(agent)).outcome.kind).toBe('blocked');
      await release(agent, outcome.lease);
    }
    const { outcome } = await submit(agent);
    if (outcome.kind !== 'claimed') throw new Error(`not claimed but ${outcome.kind}`);
    await settling(database, outcome.lease);
    expect((await submit(agent)).outcome.kind).toBe('blocked');
    await recorded(database, outcome.lease);
    expect((await submit(agent)).outcome.kind).toBe('blocked');
  });

  it('that ends between reserve and settle does not touch the call that has taken it', async () => {
    const agent = await cautiousBook();
    await submit(agent);
    await approve(agent);
    const { outcome } = await submit(agent);
    if (outcome.kind !== 'claimed') throw new Error(`not claimed but ${outcome.kind}`);
    await database.query({
      text: `update approval_request set decided_at = decided_at - interval '1 day', open_until = open_until - interval '1 day'
        where agent_id = $1 and decision = 'approve'`,
      values: [agent],
    });
    await settling(database, outcome.lease);
    await recorded(database, outcome.lease);
    // Let go of, it would serve nobody any more.
    expect((await submit(agent)).outcome.kind).toBe('blocked');
  });

  it('is for a call and a payer, and for the amount that was asked', async () => {
    const agent = await cautiousBook();
    await submit(agent);
    await approve(agent);
    expect((await submit(agent, { hash: 'b' })).outcome.kind).toBe('blocked');
    const cheaper = claimRequest('cheaper', {
      ...{ request_hash: 'a'.repeat(64), amount_atomic: PRICE, means: { balance_atomic: 10n ** 12n, moved: [] } },
    });
    const call = {
      field: cheaper.field,
      model: null,
      models: [],
      intent_id: null,
      attempt_index: null,
      parent_ref: null,
    };
    const dearer = atomicAmount(2001n);
    const taken = await queues[0]?.claim.submit({ request: cheaper, book: agent, holds_atomic: dearer, call });
    expect(taken?.outcome.kind).toBe('blocked');
    const other = { ...cheaper, claim_key: 'other', payer: `0x${'1'.repeat(40)}`, task_id: claimRequest('x').task_id };
    const elsewhere = await queues[0]?.claim.submit({ request: other, book: agent, holds_atomic: PRICE, call });
    expect(elsewhere?.outcome.kind).toBe('blocked');
    expect((await submit(agent)).outcome.kind).toBe('claimed');
  });

  it('never lets more calls stand than people have approved, under any interleaving', async () => {
    const move = fc.record({
      what: fc.constantFrom('submit', 'approve', 'release', 'settle', 'record'),
      hash: fc.constantFrom('a', 'b'),
      queue: fc.nat(1),
      which: fc.nat(),
    });
    let passed_of_all = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(move, { maxLength: 6 }), { maxLength: 8 }), async rounds => {
        const agent = await cautiousBook();
        const approved = { a: 0, b: 0 };
        const open: { readonly lease: Lease; readonly settling: boolean }[] = [];
        for (const round of rounds)
          await Promise.all(
            round.map(async ({ what, hash, queue, which }) => {
              if (what === 'approve') approved[hash as 'a' | 'b'] += await approve(agent, hash);
              if (what === 'submit') {
                const { outcome } = await submit(agent, { hash, queue });
                if (outcome.kind === 'claimed') open.push({ lease: outcome.lease, settling: false });
              }
              if (what !== 'release' && what !== 'settle' && what !== 'record') return;
              const [taken] = open.splice(which % Math.max(1, open.length), 1);
              if (!taken) return;
              if (what === 'release') return release(agent, taken.lease);
              if (!taken.settling) await settling(database, taken.lease);
              if (what === 'settle') open.push({ lease: taken.lease, settling: true });
              else await recorded(database, taken.lease);
            }),
          );
        for (const hash of ['a', 'b'] as const) {
          const [standing] = await database.query<{ calls: number; approvals: number }>({
            text: `select count(*)::int as calls, count(distinct landing->>'approval')::int as approvals from payment_claim
              where agent_id = $1 and request_hash = $2 and state <> 'released'`,
            values: [agent, hash.repeat(64)],
          });
          passed_of_all += standing?.calls ?? 0;
          // Each that stands has an approval of its own, of those that were given.
          expect(standing?.approvals).toBe(standing?.calls);
          expect(standing?.calls).toBeLessThanOrEqual(approved[hash]);
        }
      }),
      { numRuns: 40 },
    );
    expect(passed_of_all).toBeGreaterThan(0);
  });
});
