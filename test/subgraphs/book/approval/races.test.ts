import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AgentId } from '../../../../schema/ids.ts';
import { approvalLimits } from '../../../../schema/limits.ts';
import { statusOfApproval } from '../../../../subgraphs/book/approval/find.ts';
import type { Lease } from '../../../../subgraphs/receipt/claim/claim.ts';
import { openApprovals } from '../../../harness/claim/approvals.ts';
import { recordClaim, startSettling } from '../../../harness/claim/fixture.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';

/* An approval passes one call in any race. The test uses the same statements as the service to claim, release and record. */

let house: Awaited<ReturnType<typeof openApprovals>>;
beforeAll(async () => {
  house = await openApprovals();
});

/** The claim of a call that must pass. */
async function claimed(agent: AgentId, more: Parameters<typeof house.submit>[1] = {}) {
  const { key, outcome } = await house.submit(agent, more);
  if (outcome.kind !== 'claimed') throw new Error(`not claimed but ${outcome.kind}`);
  return { key, lease: outcome.lease };
}

async function approvedBook(): Promise<AgentId> {
  const agent = await house.cautiousBook();
  expect((await house.submit(agent)).outcome.kind).toBe('blocked');
  expect(await house.approve(agent)).toBe(1);
  return agent;
}

const statuses = async (agent: AgentId) => (await house.requests(agent)).map(it => statusOfApproval(it));
const passes = async (agent: AgentId) => (await house.submit(agent)).outcome.kind === 'claimed';

describe('an approval', () => {
  it('passes one of 1,000 claims that race for it, in two processes', async () => {
    const { submit, release, database } = house;
    const agent = await approvedBook();
    const racing = await Promise.all(Array.from({ length: 1_000 }, (_, index) => submit(agent, { queue: index % 2 })));
    const passed = racing.filter(({ outcome }) => outcome.kind === 'claimed');
    expect(passed).toHaveLength(1);
    expect(new Set(racing.map(({ outcome }) => outcome.kind))).toEqual(
      new Set(['claimed', 'blocked', 'blocked_too_often']),
    );
    // All other calls together have left one request.
    expect(await statuses(agent)).toEqual(['open', 'passed']);
    const [one] = passed;
    if (one?.outcome.kind === 'claimed') await release(agent, one.outcome.lease);
    await auditBooks(database);
  });

  it('is given back once by a claim that is let go of, and stays used by one that is recorded', async () => {
    const { database, release } = house;
    const agent = await approvedBook();
    for (let times = 0; times < 3; times++) {
      const { lease } = await claimed(agent);
      expect(await passes(agent)).toBe(false);
      await release(agent, lease);
    }
    const { lease } = await claimed(agent);
    await startSettling(database, lease);
    expect(await passes(agent)).toBe(false);
    await recordClaim(database, lease);
    expect(await passes(agent)).toBe(false);
  });

  it('that ends between reserve and settle does not touch the call that has taken it', async () => {
    const { database } = house;
    const agent = await approvedBook();
    const { lease } = await claimed(agent);
    await database.query({
      text: `update approval_request set decided_at = decided_at - interval '1 day', open_until = open_until - interval '1 day'
        where agent_id = $1 and decision = 'approve'`,
      values: [agent],
    });
    await startSettling(database, lease);
    await recordClaim(database, lease);
    // Even if the claim were released, the approval would pass no other call, because its day is over.
    expect(await passes(agent)).toBe(false);
  });

  it('is for a call and a payer, and for the amount that was asked', async () => {
    const { submit } = house;
    const agent = await approvedBook();
    const others = [{ hash: 'b' }, { holds_atomic: 2001n }, { differently: { payer: `0x${'1'.repeat(40)}` } }];
    for (const other of others) expect((await submit(agent, other)).outcome.kind).toBe('blocked');
    expect(await passes(agent)).toBe(true);
  });

  it('is asked of no payment that is owed; one that was let go of and used elsewhere holds its own, unless another has it', async () => {
    const { submit, release, usedElsewhere } = house;
    const agent = await approvedBook();
    await claimed(agent, { owed: true });
    const { key, lease } = await claimed(agent);
    await release(agent, lease);
    expect(await usedElsewhere(key)).not.toBeNull();
    expect(await passes(agent)).toBe(false);

    const other = await approvedBook();
    const first = await claimed(other);
    await release(other, first.lease);
    const second = await claimed(other);
    const owed = await usedElsewhere(first.key);
    expect(owed).not.toBeNull();
    // Both claims exist. The owed one neither takes the approval of the other nor frees it for a third call.
    expect((await submit(other, { key: second.key })).outcome.kind).toBe('in_flight');
    expect(await passes(other)).toBe(false);
    await recordClaim(house.database, owed as Lease);
    expect(await passes(other)).toBe(false);
  });
});

describe('requests for approval', () => {
  it('one open request per request hash: of 200 calls that race, each with an intent of its own, in two processes', async () => {
    const { submit, requests } = house;
    const agent = await house.cautiousBook();
    const racing = Array.from({ length: 200 }, (_, index) =>
      submit(agent, { hash: index % 4 === 0 ? 'b' : 'a', queue: index % 2, intent_id: `intent ${index}` }),
    );
    const kinds = (await Promise.all(racing)).map(({ outcome }) => outcome.kind);
    // Each call has a row, so each could have left a request.
    expect(new Set(kinds)).toEqual(new Set(['blocked']));
    const open = await requests(agent);
    expect(open.map(it => it.requestHash[0]).sort()).toEqual(['a', 'b']);
    expect(open.map(it => statusOfApproval(it))).toEqual(['open', 'open']);
  });

  it('20 per book: of 100 calls that race for as many, each another call, in two processes; another book has its own', async () => {
    const { submit, requests } = house;
    const [agent, other] = [await house.cautiousBook(), await house.cautiousBook()];
    const call = (index: number) => ({
      hash: index.toString(16).padStart(4, '0'),
      queue: index % 2,
      intent_id: `intent ${index}`,
    });
    const racing = await Promise.all(Array.from({ length: 100 }, (_, index) => submit(agent, call(index))));
    expect(new Set(racing.map(({ outcome }) => outcome.kind))).toEqual(new Set(['blocked']));
    expect(approvalLimits.open_per_book_max).toBe(20);
    expect(await requests(agent)).toHaveLength(20);
    await submit(other);
    expect(await requests(other)).toHaveLength(1);
  });
});

const moves = fc.array(
  fc.array(
    fc.record({
      what: fc.constantFrom('submit', 'approve', 'release', 'settle', 'record', 'owed', 'used_elsewhere'),
      hash: fc.constantFrom('a', 'b'),
      queue: fc.nat(1),
      which: fc.nat(),
    }),
    { maxLength: 6 },
  ),
  { maxLength: 8 },
);
type Move = typeof moves extends fc.Arbitrary<(infer M)[][]> ? M : never;

interface Claim {
  readonly key: string;
  readonly lease: Lease;
  readonly settling: boolean;
}

/** Runs random steps on one book, with two different calls. */
function openPlay(agent: AgentId) {
  const open: Claim[] = [];
  const let_go: string[] = [];
  const owed = new Set<string>();
  const submit = async ({ hash, queue }: Move, more: { key?: string; owed?: boolean } = {}) => {
    const { key, outcome } = await house.submit(agent, { hash, queue, ...more });
    if (outcome.kind === 'claimed') open.push({ key, lease: outcome.lease, settling: false });
    else if (outcome.kind === 'blocked') let_go.push(key);
  };
  const finish = async (what: 'release' | 'settle' | 'record', which: number) => {
    const [taken] = open.splice(which % Math.max(1, open.length), 1);
    if (!taken) return;
    if (what === 'release' && !taken.settling) {
      await house.release(agent, taken.lease);
      owed.delete(taken.key);
      return void let_go.push(taken.key);
    }
    if (!taken.settling) await startSettling(house.database, taken.lease);
    if (what === 'record') await recordClaim(house.database, taken.lease);
    else open.push({ ...taken, settling: true });
  };
  const play = async (move: Move): Promise<void> => {
    const { what, which } = move;
    if (what === 'approve') await house.approve(agent, move.hash);
    else if (what === 'submit') await submit(move);
    else if (what === 'owed') {
      const key = `owed ${agent} ${owed.size} ${which}`;
      owed.add(key);
      await submit(move, { key, owed: true });
    } else if (what === 'used_elsewhere') {
      const [key] = let_go.splice(which % Math.max(1, let_go.length), 1);
      if (key === undefined) return;
      owed.add(key);
      const lease = await house.usedElsewhere(key);
      if (lease) open.push({ key, lease, settling: true });
    } else await finish(what, which);
  };
  return { owed, play };
}

describe('approvals', () => {
  it('never let more calls stand than people have approved, under any interleaving, whatever is owed beside them', async () => {
    const seen = { passed: 0, owed: 0 };
    await fc.assert(
      fc.asyncProperty(moves, async rounds => {
        const agent = await house.cautiousBook();
        const { owed, play } = openPlay(agent);
        for (const round of rounds) await Promise.all(round.map(play));
        for (const hash of ['a', 'b'] as const) {
          const standing = await house.database.query<{ key: string; approval: string | null }>({
            text: `select claim_key as key, landing->>'approval' as approval from payment_claim
              where agent_id = $1 and request_hash = $2 and state <> 'released'`,
            values: [agent, hash.repeat(64)],
          });
          const given = (await house.requests(agent))
            .filter(({ requestHash, decision }) => requestHash[0] === hash && decision === 'approve')
            .map(({ approvalId }) => approvalId);
          const asked = standing.filter(({ key }) => !owed.has(key));
          seen.passed += asked.length;
          seen.owed += standing.length - asked.length;
          // Each claim that needed an approval has a different one of those that were given.
          expect(new Set(asked.map(({ approval }) => approval)).size).toBe(asked.length);
          for (const { approval } of asked) expect(given).toContain(approval);
        }
      }),
      { numRuns: 60 },
    );
    expect(Math.min(seen.passed, seen.owed)).toBeGreaterThan(0);
  });
});
