import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { type ClaimOutcome, type ClaimRequest } from '../../../../subgraphs/receipt/claim/claim.ts';
import { openClaimsOf } from '../../../../subgraphs/receipt/claim/funds.ts';
import { renewLease } from '../../../../subgraphs/receipt/claim/lease.ts';
import { abandonClaim, beginSettling, markRecorded } from '../../../../subgraphs/receipt/claim/transitions.ts';
import { claim, claimRequest, OWNER } from '../../../harness/claim/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

const PRICE = 2000n;

let database: Database;
beforeAll(async () => {
  database = await freshStore();
  await database.transaction(tx => renewLease(tx, OWNER));
});

/** A new payer that has money for that many calls. */
function payerOf(calls: number) {
  const payer = `0x${randomBytes(20).toString('hex')}`;
  let made = 0;
  const call = (differently: Partial<ClaimRequest> = {}) =>
    claimRequest(`${payer}/${++made}`, {
      payer,
      means: { balance_atomic: PRICE * BigInt(calls), moved: [] },
      ...differently,
    });
  const claimed = async (...requests: ClaimRequest[]) => (await claim(database, ...requests)).map(({ kind }) => kind);
  return { payer, call, claimed };
}

async function settling(request: ClaimRequest): Promise<ClaimOutcome> {
  const [outcome] = await claim(database, request);
  if (outcome?.kind !== 'claimed') throw new Error('not claimed');
  const item = { ...outcome.lease, settlement_id: 's', from_block: 1, answer_box: null, worked: {} };
  await database.transaction(tx => beginSettling(tx, [item]));
  return outcome;
}

describe("a payer's open claims", () => {
  it('take no more than he has, in one batch and in several', async () => {
    const { call, claimed } = payerOf(3);
    expect(await claimed(call(), call())).toEqual(['claimed', 'claimed']);
    expect(await claimed(call(), call(), call())).toEqual(['claimed', 'beyond_means', 'beyond_means']);
    expect(await claimed(call())).toEqual(['beyond_means']);
  });

  it('count while they are claimed and while they settle, and no longer: not released, recorded or expired', async () => {
    const { call, claimed } = payerOf(1);
    const first = call();
    const outcome = await settling(first);
    expect(await claimed(call())).toEqual(['beyond_means']);
    if (outcome.kind !== 'claimed') return;
    await database.transaction(tx => markRecorded(tx, [outcome.lease]));
    const [next] = await claim(database, call());
    expect(next?.kind).toBe('claimed');
    expect(await claimed(call())).toEqual(['beyond_means']);
    if (next?.kind !== 'claimed') return;
    await database.transaction(tx => abandonClaim(tx, next.lease, 'test', true));
    expect(await claimed(call({ valid_before: 1 }))).toEqual(['claimed']);
    expect(await claimed(call())).toEqual(['claimed']);
  });

  it('that have left the balance already are not counted again', async () => {
    const { call, claimed, payer } = payerOf(1);
    await settling(call());
    const moved = (await openClaimsOf(database, payer)).map(({ claim_key }) => claim_key);
    expect(moved).toHaveLength(1);
    const means = { balance_atomic: PRICE, moved };
    expect(await claimed(call(), call({ means }))).toEqual(['beyond_means', 'claimed']);
  });

  it('leave nothing behind where they are refused, and a released one may be refused too', async () => {
    const { call, claimed } = payerOf(1);
    const [first, second] = [call(), call()];
    const [outcome] = await claim(database, first);
    expect(await claimed(second)).toEqual(['beyond_means']);
    const rows = await database.query({
      text: 'select 1 from payment_claim where claim_key = $1',
      values: [second.claim_key],
    });
    expect(rows).toEqual([]);
    if (outcome?.kind !== 'claimed') return;
    await database.transaction(tx => abandonClaim(tx, outcome.lease, 'test', true));
    expect(await claimed(second)).toEqual(['claimed']);
    expect(await claimed(first)).toEqual(['beyond_means']);
  });

  it('are told how they stand when they come again, whatever the payer has left', async () => {
    const { call, claimed } = payerOf(1);
    const request = call();
    expect(await claimed(request)).toEqual(['claimed']);
    const again = { ...claimRequest(request.claim_key), payer: request.payer };
    const poor = { balance_atomic: 0n, moved: [] };
    expect(await claimed({ ...again, means: poor })).toEqual(['in_flight']);
    expect(await claimed({ ...again, means: poor, request_hash: 'another' })).toEqual(['foreign']);
  });

  it('of a payment that is used already are not asked after, and no payer counts for another', async () => {
    const [one, other] = [payerOf(1), payerOf(1)];
    expect(await one.claimed(one.call(), one.call({ means: null }), other.call())).toEqual([
      'claimed',
      'claimed',
      'claimed',
    ]);
  });

  it('fill what he has exactly, however they come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 12 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 }),
        async (calls, batches) => {
          const { call, claimed } = payerOf(calls);
          const kinds: string[] = [];
          for (const size of batches) kinds.push(...(await claimed(...Array.from({ length: size }, () => call()))));
          const granted = kinds.filter(kind => kind === 'claimed').length;
          expect(granted).toBe(Math.min(calls, kinds.length));
        },
      ),
      { numRuns: 30 },
    );
  });

  it('of different prices leave room for the one that fits', async () => {
    const { call, claimed } = payerOf(2);
    const dear = { amount_atomic: atomicAmount(3n * PRICE) };
    expect(await claimed(call(), call(dear), call())).toEqual(['claimed', 'beyond_means', 'claimed']);
  });
});
