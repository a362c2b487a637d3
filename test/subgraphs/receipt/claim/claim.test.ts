import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../../schema/limits.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { type ClaimState, claimStates, mayMove } from '../../../../subgraphs/receipt/claim/claim.machine.ts';
import { type ClaimRequest, type Lease } from '../../../../subgraphs/receipt/claim/claim.ts';
import { holdLeg, releaseHeld } from '../../../../subgraphs/receipt/claim/held-leg.ts';
import { endLease, renewLease } from '../../../../subgraphs/receipt/claim/lease.ts';
import {
  beginSettling,
  claimByKey,
  markRecorded,
  reopen,
  takeOrphans,
} from '../../../../subgraphs/receipt/claim/transitions.ts';
import {
  abandonLease,
  claim,
  claimRequest,
  heldLease,
  OTHER,
  OWNER,
  recordClaim,
  startSettling,
  stateOf,
} from '../../../harness/claim/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
  await renewLeaseOf(OWNER);
});

const renewLeaseOf = (owner: string) => database.transaction(tx => renewLease(tx, owner));
const endLeaseOf = (owner: string) => database.transaction(tx => endLease(tx, owner));

describe('claiming', () => {
  it('takes a payment once: two requests of one batch, of two batches, of the same and of another request', async () => {
    const [first, second] = await claim(database, claimRequest('a'), claimRequest('a'));
    expect([first?.kind, second?.kind]).toEqual(['claimed', 'in_flight']);
    const [again, other] = [
      await claim(database, claimRequest('a')),
      await claim(database, claimRequest('a', { request_hash: 'another' })),
    ];
    expect([again[0]?.kind, other[0]?.kind]).toEqual(['in_flight', 'foreign']);
  });

  it('judges every request of a batch by its own hash: nobody gets the answer to another request', async () => {
    const lease = heldLease((await claim(database, claimRequest('twins')))[0]);
    await startSettling(database, lease);
    await recordClaim(database, lease);
    const mine = () => claimRequest('twins');
    const theirs = () => claimRequest('twins', { request_hash: 'another' });
    const kinds = async (...requests: ReturnType<typeof mine>[]) =>
      (await claim(database, ...requests)).map(({ kind }) => kind);
    expect(await kinds(mine(), theirs())).toEqual(['replayed', 'foreign']);
    expect(await kinds(theirs(), mine())).toEqual(['foreign', 'replayed']);
  });

  it('is idempotent for the batch that is done again', async () => {
    const request = claimRequest('b');
    await claim(database, request);
    expect((await claim(database, request))[0]?.kind).toBe('claimed');
  });

  it('gives a released payment to the next request, under a new epoch', async () => {
    const lease = heldLease((await claim(database, claimRequest('c')))[0]);
    await abandonLease(database, lease, false);
    const another = claimRequest('c', { request_hash: 'another', means: { balance_atomic: 10n ** 12n, moved: [] } });
    const next = heldLease((await claim(database, another))[0]);
    expect(next.lease_epoch).toBe(lease.lease_epoch + 1);
    expect(await abandonLease(database, lease, false)).toEqual({ kind: 'lost' });
    expect(await stateOf(database, 'c')).toBe('claimed');
  });

  it('keeps what was sent once for the request it was made for, however often it is released', async () => {
    const request = (differently: Partial<ClaimRequest> = {}) =>
      claimRequest('sent', { means: { balance_atomic: 10n ** 12n, moved: [] }, ...differently });
    const lease = heldLease((await claim(database, request()))[0]);
    await startSettling(database, lease);
    await abandonLease(database, lease, true);
    expect((await claim(database, request({ request_hash: 'another' })))[0]?.kind).toBe('foreign');
    await abandonLease(database, heldLease((await claim(database, request()))[0]), true);
    expect((await claim(database, request({ request_hash: 'another' })))[0]?.kind).toBe('foreign');
    expect((await claim(database, request()))[0]?.kind).toBe('claimed');
  });

  it('gives what somebody else has used to the same request under the same session alone', async () => {
    const landing = { possessed_by: 7 };
    await abandonLease(database, heldLease((await claim(database, claimRequest('spent', { landing })))[0]), true);
    expect((await claim(database, claimRequest('spent', { landing, request_hash: 'x' })))[0]?.kind).toBe('foreign');
    expect((await claim(database, claimRequest('spent')))[0]?.kind).toBe('foreign');
    expect((await claim(database, claimRequest('spent', { landing })))[0]?.kind).toBe('claimed');
  });

  it('replays what is recorded, and calls pending what nobody waits for', async () => {
    const lease = heldLease((await claim(database, claimRequest('d')))[0]);
    await startSettling(database, lease);
    expect((await claim(database, claimRequest('d')))[0]?.kind).toBe('in_flight');
    await abandonLease(database, lease, false);
    expect((await claim(database, claimRequest('d')))[0]?.kind).toBe('pending');
  });

  it('refuses a slot that another claim holds, and leaves that payment usable', async () => {
    const slots = ['wallet:0x1'];
    await claim(database, claimRequest('e', { slots }));
    expect((await claim(database, claimRequest('f', { slots })))[0]).toEqual({
      kind: 'slot_taken',
      slot: 'wallet:0x1',
    });
    expect((await claim(database, claimRequest('f')))[0]?.kind).toBe('claimed');
  });

  it('does not deadlock where batches meet in opposite orders', async () => {
    const keys = Array.from({ length: 40 }, (_, n) => `race ${n}`);
    const batches = [keys, [...keys].reverse(), keys].map(order =>
      claim(database, ...order.map(key => claimRequest(key))),
    );
    const outcomes = (await Promise.all(batches)).flat();
    expect(outcomes.filter(outcome => outcome.kind === 'claimed')).toHaveLength(keys.length);
  });
});

describe('moving', () => {
  /** Brings a new claim to a state by the functions of the service. */
  async function claimIn(state: ClaimState, claim_key: string): Promise<Lease> {
    const lease = heldLease((await claim(database, claimRequest(claim_key)))[0]);
    if (state === 'released') await abandonLease(database, lease, false);
    if (state === 'settling' || state === 'held' || state === 'recorded') await startSettling(database, lease);
    if (state === 'held') await heldFirst(lease);
    if (state === 'recorded') await recordClaim(database, lease);
    return lease;
  }
  const heldFirst = (lease: Lease) =>
    database.transaction(tx => holdLeg(tx, lease, { transaction: lease.claim_key }, `transfer:${lease.claim_key}`));
  const verbs: Record<string, (lease: Lease) => Promise<unknown>> = {
    settling: lease => startSettling(database, lease),
    recorded: lease => recordClaim(database, lease),
    held: heldFirst,
    'let go of as held': ({ claim_key }) => database.transaction(tx => releaseHeld(tx, claim_key, 'test')),
    abandoned: lease => abandonLease(database, lease, false),
    'abandoned for sure': lease => abandonLease(database, lease, true),
    claimed: lease => claim(database, claimRequest(lease.claim_key)),
    reopened: async lease => {
      const standing = await claimByKey(database, lease.claim_key);
      if (standing) await database.transaction(tx => reopen(tx, standing, OTHER, 1));
    },
  };

  it('accepts no transition outside its table, whatever is asked of whatever state', async () => {
    let number = 0;
    const asked = fc.array(fc.constantFrom(...Object.keys(verbs)), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...claimStates), asked, async (state, names) => {
        const claim_key = `walk ${number++}`;
        const lease = await claimIn(state, claim_key);
        for (const name of names) {
          const from = (await stateOf(database, claim_key)) as ClaimState;
          await verbs[name]?.(lease).catch(() => {});
          const to = (await stateOf(database, claim_key)) as ClaimState;
          expect(from === to || mayMove(from, to), `${name}: ${from} → ${to}`).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('records a batch as a whole or not at all', async () => {
    const [one, other] = [await claimIn('settling', 'whole 1'), await claimIn('claimed', 'whole 2')];
    await expect(database.transaction(tx => markRecorded(tx, [one, other]))).rejects.toThrow();
    expect(await stateOf(database, 'whole 1')).toBe('settling');
  });

  it('is final once recorded: nothing moves it any more', () => {
    expect(claimStates.filter(state => mayMove('recorded', state))).toEqual([]);
  });

  it('takes over nothing that a living process works on, and everything that a dead one left', async () => {
    await renewLeaseOf(OWNER);
    await renewLeaseOf(OTHER);
    const mine = await claimIn('settling', 'living');
    const [left] = await claim(database, claimRequest('left', { lease_owner: OTHER }));
    const takenKeys = async () => (await takeOrphans(database, OWNER, 1000)).map(orphan => orphan.claimKey);
    expect(await takenKeys()).not.toContain('left');
    await endLeaseOf(OTHER);
    const taken = await takenKeys();
    expect(taken).toContain('left');
    expect(taken).not.toContain('living');
    expect(await abandonLease(database, heldLease(left), true)).toEqual({ kind: 'lost' });
    await recordClaim(database, mine);
  });
});

describe('settling again', () => {
  const settlingBy = (lease: Lease, settlement_id: string, replaces: readonly string[]) =>
    database.transaction(tx =>
      beginSettling(tx, [{ ...lease, settlement_id, from_block: 1, answer_box: null, worked: {} }], replaces),
    );

  it('moves a claim on to the settlement that replaces its own, and to no other', async () => {
    const lease = heldLease((await claim(database, claimRequest('starved')))[0]);
    expect((await settlingBy(lease, 'A', [])).size).toBe(1);
    expect((await settlingBy(lease, 'B', [])).size).toBe(0);
    expect((await settlingBy(lease, 'B', ['A'])).size).toBe(1);
    expect((await settlingBy(lease, 'C', ['A'])).size).toBe(0);
    expect(await claimByKey(database, 'starved')).toMatchObject({ state: 'settling', settlementId: 'B' });
  });
});

describe('a payment that comes to nothing', () => {
  const kindOf = async (differently: Partial<ClaimRequest> = {}) =>
    (await claim(database, claimRequest('lapsing', differently)))[0]?.kind;
  const means = { balance_atomic: 1_000_000n, moved: [] };

  it('by its callers lapses after five times; by anybody else it never does; where its money comes, it is owed', async () => {
    for (let times = 0; times < 10; times++)
      await abandonLease(database, heldLease((await claim(database, claimRequest('lapsing', { means })))[0]), true);
    for (let times = 0; times < limits.payment_failures_max; times++)
      await abandonLease(database, heldLease((await claim(database, claimRequest('lapsing', { means })))[0]), true, {
        by_caller: true,
      });
    expect([await kindOf({ means }), await kindOf({ means, request_hash: 'another' })]).toEqual(['lapsed', 'lapsed']);
    expect(await kindOf({ means: null })).toBe('claimed');
  });
});
