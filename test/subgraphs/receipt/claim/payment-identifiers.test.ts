import { beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../../subgraphs/database.ts';
import { blockClaims } from '../../../../subgraphs/receipt/claim/block-claims.ts';
import { type ClaimRequest, type Lease } from '../../../../subgraphs/receipt/claim/claim.ts';
import { awaitArrivals, closeArrival } from '../../../../subgraphs/receipt/claim/doubt.ts';
import { identifierSlot, namedPayment } from '../../../../subgraphs/receipt/claim/identifier.ts';
import { renewLease } from '../../../../subgraphs/receipt/claim/lease.ts';
import { findPayment } from '../../../../subgraphs/receipt/claim/settlement-status.ts';
import { claimByKey, markFinal, reopen } from '../../../../subgraphs/receipt/claim/transitions.ts';
import {
  abandonLease,
  claim,
  claimRequest,
  OTHER,
  OWNER,
  recordClaim,
  startSettling,
} from '../../../harness/claim/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

/* Payment identifiers that payers give, and the status of a payment for its holder, tested by the rules on Postgres only. */

const PAYER = claimRequest('').payer;
const STRANGER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const name = (identifier: string) => ({ network: 'base', payer: PAYER, identifier }) as const;

let database: Database;
beforeAll(async () => {
  database = await freshStore();
  await database.transaction(tx => renewLease(tx, OWNER));
});

function request(claim_key: string, identifier: string, differently: Partial<ClaimRequest> = {}): ClaimRequest {
  return claimRequest(claim_key, { identifier, slots: [identifierSlot(name(identifier))], ...differently });
}

async function taken(claim_key: string, identifier: string, differently: Partial<ClaimRequest> = {}): Promise<Lease> {
  const [outcome] = await claim(database, request(claim_key, identifier, differently));
  if (outcome?.kind !== 'claimed') throw new Error(`not claimed but ${outcome?.kind}`);
  return outcome.lease;
}

const asked = { request_hash: 'the request', router_key_mark: null } as const;
const kindOf = async (identifier: string, request_hash = 'the request') =>
  (await namedPayment(database, name(identifier), { ...asked, request_hash }))?.kind ?? null;
const stateOf = async (payment_id: string, payer: string | null = null) =>
  (await findPayment(database, 'http://svc.test', { payment_id, payer }))?.state ?? null;

describe('an identifier', () => {
  it('is held by the payment that took it first, through all its states, for its request', async () => {
    const lease = await taken('first', 'walk');
    expect((await claim(database, request('second', 'walk')))[0]).toMatchObject({ kind: 'slot_taken' });
    expect([await kindOf('walk'), await kindOf('walk', 'another')]).toEqual(['in_flight', 'foreign']);
    await startSettling(database, lease);
    expect(await kindOf('walk')).toBe('in_flight');
    await recordClaim(database, lease);
    expect([await kindOf('walk'), await kindOf('walk', 'another')]).toEqual(['replayed', 'foreign']);
    expect(await namedPayment(database, name('walk'), asked)).toMatchObject({ claim_key: 'first' });
  });

  it('is the purchase of the router key under which it was made, and of no other', async () => {
    const lease = await taken('routed', 'routed', { landing: { router_key_mark: 'mine' } });
    await startSettling(database, lease);
    await recordClaim(database, lease);
    const kinds = await Promise.all(
      ['mine', 'other', null].map(router_key_mark =>
        namedPayment(database, name('routed'), { ...asked, router_key_mark }).then(it => it?.kind),
      ),
    );
    expect(kinds).toEqual(['replayed', 'foreign', 'foreign']);
  });

  it('is pending while nobody waits for its payment, and free once that is let go of', async () => {
    const lease = await taken('let go', 'pending');
    await startSettling(database, lease);
    await abandonLease(database, lease, false);
    expect(await kindOf('pending')).toBe('pending');
    await abandonLease(database, await taken('released', 'free'), true);
    expect(await kindOf('free')).toBe(null);
    expect((await taken('the next', 'free')).claim_key).toBe('the next');
  });

  it('is free again where the book refused the payment', async () => {
    await taken('refused', 'blocked');
    await database.transaction(async tx =>
      blockClaims(tx, [{ claim_key: 'refused', refusal_id: 'refusal_x' as never }]),
    );
    expect(await kindOf('blocked')).toBe(null);
  });

  it('is taken by one of those that come in one batch, and by none of another payer', async () => {
    const outcomes = await claim(database, request('b1', 'batch'), request('b2', 'batch'), request('b3', 'batch'));
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['claimed', 'slot_taken', 'slot_taken']);
    expect(await namedPayment(database, { ...name('batch'), payer: STRANGER }, asked)).toBe(null);
  });

  it('goes back to a payment that settles after it was let go of, unless another has bought by it since', async () => {
    for (const [identifier, bought_since] of [
      ['back', false],
      ['gone', true],
    ] as const) {
      await abandonLease(database, await taken(`${identifier} one`, identifier), true);
      if (bought_since) await taken(`${identifier} two`, identifier);
      const released = await claimByKey(database, `${identifier} one`);
      if (!released) throw new Error('no claim');
      await database.transaction(tx => reopen(tx, released, OTHER, 1));
      const holder = await namedPayment(database, name(identifier), asked);
      expect(holder?.claim_key).toBe(bought_since ? 'gone two' : 'back one');
    }
  });
});

describe('an Idempotency-Key beside a payment', () => {
  const keyed = (mark: string) => ({ ...name(mark), by: 'idempotency_key' }) as const;
  const request_of = (claim_key: string, mark: string) =>
    claimRequest(claim_key, { landing: { idempotency_mark: mark }, slots: [identifierSlot(keyed(mark))] });

  it('is a name of its own, apart from an identifier of the same letters', async () => {
    await taken('by identifier', 'letters');
    expect((await claim(database, request_of('by key', 'letters')))[0]).toMatchObject({ kind: 'claimed' });
    expect((await claim(database, request_of('by key again', 'letters')))[0]).toMatchObject({ kind: 'slot_taken' });
    expect(await namedPayment(database, keyed('letters'), asked)).toMatchObject({ claim_key: 'by key' });
    expect(await namedPayment(database, name('letters'), asked)).toMatchObject({ claim_key: 'by identifier' });
  });

  it('goes back to a payment that settles after it was let go of', async () => {
    const [outcome] = await claim(database, request_of('keyed, let go', 'keyed'));
    if (outcome?.kind !== 'claimed') throw new Error('not claimed');
    await abandonLease(database, outcome.lease, true);
    expect(await namedPayment(database, keyed('keyed'), asked)).toBe(null);
    const released = await claimByKey(database, 'keyed, let go');
    if (!released) throw new Error('no claim');
    await database.transaction(tx => reopen(tx, released, OTHER, 1));
    expect(await namedPayment(database, keyed('keyed'), asked)).toMatchObject({ claim_key: 'keyed, let go' });
  });
});

describe('how a payment stands', () => {
  it('is told by its own name and by its identifier: claimed, pending, settled', async () => {
    const lease = await taken('nonce-1', 'walked-1');
    const both = async () => [await stateOf('nonce-1'), await stateOf('walked-1')];
    expect(await both()).toEqual(['claimed', 'claimed']);
    await startSettling(database, lease);
    expect(await both()).toEqual(['pending', 'pending']);
    await recordClaim(database, lease);
    expect(await both()).toEqual(['settled', 'settled']);
  });

  it('is pending while a facilitator alone says that it settled, then settled or failed', async () => {
    for (const [arrival, state] of [
      ['confirmed', 'settled'],
      ['unverified', 'failed'],
    ] as const) {
      const lease = await taken(arrival, `arrival-${arrival}`);
      await startSettling(database, lease);
      await recordClaim(database, lease);
      await database.transaction(async tx => awaitArrivals(tx, [arrival]));
      expect(await stateOf(arrival)).toBe('pending');
      await database.transaction(tx => closeArrival(tx, arrival, arrival));
      expect(await stateOf(arrival)).toBe(state);
    }
  });

  it('is released while it may be sent again, and failed once its nonce or its time is gone', async () => {
    const lease = await taken('expires', 'expiring-1');
    await abandonLease(database, lease, true);
    expect(await stateOf('expires')).toBe('released');
    await database.transaction(tx => markFinal(tx, { claimKey: 'expires', leaseEpoch: 0 }));
    expect(await stateOf('expires')).toBe('failed');
    await abandonLease(database, await taken('cancelled', 'cancelled-1'), true, { reason: 'cancelled' });
    expect(await stateOf('cancelled')).toBe('failed');
  });

  it('of an identifier is that of the payment which holds it, not of those that were let go of', async () => {
    await abandonLease(database, await taken('tried', 'twice-1'), true);
    const lease = await taken('held', 'twice-1');
    await startSettling(database, lease);
    await abandonLease(database, await taken('later', 'another-1', { identifier: 'twice-1' }), true);
    expect(await stateOf('twice-1')).toBe('pending');
  });

  it('is told of one payer where several call theirs the same', async () => {
    await taken('mine', 'shared-1');
    const slots = [identifierSlot({ ...name('shared-1'), payer: STRANGER })];
    await abandonLease(database, await taken('his', 'shared-1', { payer: STRANGER, slots }), true);
    await expect(stateOf('shared-1')).rejects.toThrow('several payers');
    expect(await stateOf('shared-1', PAYER.toLowerCase())).toBe('claimed');
    expect(await stateOf('shared-1', STRANGER)).toBe('released');
    expect(await stateOf('nobody-s')).toBe(null);
  });
});
