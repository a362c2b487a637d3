import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../../schema/limits.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { unclaim } from '../../../../subgraphs/receipt/claim/block-claims.ts';
import { type ClaimRequest, claimPayments, type Lease } from '../../../../subgraphs/receipt/claim/claim.ts';
import { forgetClaims } from '../../../../subgraphs/receipt/claim/forget.ts';
import { claimByKey, markFinal } from '../../../../subgraphs/receipt/claim/transitions.ts';
import {
  abandonLease,
  claim,
  claimRequest,
  heldLease,
  recordClaim,
  startSettling,
  stateOf,
} from '../../../harness/claim/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

describe('a claim whose call is turned away', () => {
  const turnedAway = (...requests: ClaimRequest[]) =>
    database.transaction(async tx => {
      const outcomes = await claimPayments(tx, requests);
      unclaim(
        tx,
        requests.map(({ claim_key }) => claim_key),
      );
      return outcomes;
    });

  it('leaves nothing, and lets go of its slots', async () => {
    const request = claimRequest('turned away', { slots: ['the slot'] });
    await turnedAway(request);
    expect(await stateOf(database, 'turned away')).toBeUndefined();
    const [other] = await claim(database, claimRequest('another', { slots: ['the slot'] }));
    expect(other?.kind).toBe('claimed');
  });

  it('of a payment that stood here before is let go of, and what is known of it stays', async () => {
    const lease = heldLease((await claim(database, claimRequest('before')))[0]);
    await startSettling(database, lease);
    await abandonLease(database, lease, true);
    await turnedAway(claimRequest('before'));
    expect(await claimByKey(database, 'before')).toMatchObject({
      state: 'released',
      reason: 'blocked',
      refusalId: null,
      final: false,
      fromBlock: 1,
      leaseOwner: null,
    });
    const [again] = await claim(database, claimRequest('before'));
    expect(again?.kind).toBe('claimed');
  });
});

describe('forgetting', () => {
  const forget = () => forgetClaims(database, { answer_hours: 24, lapsed_seconds: 3_600, reverted_seconds: 0 });
  const age = (claim_key: string) =>
    database.query({
      text: `update payment_claim set moved_at = now() - interval '25 hours' where claim_key = $1`,
      values: [claim_key],
    });

  it('drops answers and requests a day after they were recorded, and keeps the claim', async () => {
    const lease = heldLease((await claim(database, claimRequest('old')))[0]);
    await startSettling(database, lease);
    await recordClaim(database, lease);
    await forget();
    expect((await claimByKey(database, 'old'))?.requestBox).not.toHaveLength(0);
    await age('old');
    await forget();
    expect(await claimByKey(database, 'old')).toMatchObject({ state: 'recorded', answerBox: null });
    expect((await claimByKey(database, 'old'))?.requestBox).toHaveLength(0);
  });

  /** Makes the payment of a claim expire that many seconds ago. */
  const lapsed = (claim_key: string, seconds: number) =>
    database.query({
      text: 'update payment_claim set valid_before = extract(epoch from now())::bigint - $2 where claim_key = $1',
      values: [claim_key, seconds],
    });
  const markedFinal = ({ claim_key, lease_epoch }: Lease, behind = 0) =>
    database.transaction(tx => markFinal(tx, { claimKey: claim_key, leaseEpoch: lease_epoch + behind }));

  it('leaves no trace of a payment that can never be used any more, an hour after it has lapsed', async () => {
    const lease = heldLease((await claim(database, claimRequest('never')))[0]);
    await abandonLease(database, lease, false);
    await lapsed('never', 4_000);
    await forget();
    // Someone may have used it until the chain has confirmed that nobody did.
    expect(await stateOf(database, 'never')).toBe('released');
    await markedFinal(lease, 1);
    await forget();
    expect(await stateOf(database, 'never')).toBe('released');
    await markedFinal(lease);
    await lapsed('never', 3_500);
    await forget();
    expect(await stateOf(database, 'never')).toBe('released');
    await lapsed('never', 3_700);
    await forget();
    expect(await stateOf(database, 'never')).toBeUndefined();
  });

  it('keeps for ever what has moved or may have, however long ago it lapsed', async () => {
    const names = ['still settling', 'settled', 'let go of after it was sent'] as const;
    const [settlingStill, settled, sent] = await Promise.all(
      names.map(async name => heldLease((await claim(database, claimRequest(name)))[0])),
    );
    if (!settlingStill || !settled || !sent) throw new Error('all were to be claimed');
    for (const lease of [settlingStill, settled, sent]) await startSettling(database, lease);
    await recordClaim(database, settled);
    await abandonLease(database, sent, true);
    for (const name of names) await lapsed(name, 40 * 24 * 3_600);
    // Only a released claim can become final. The mark is ignored for any other.
    for (const lease of [settlingStill, settled]) await markedFinal(lease);
    await forget();
    expect(await Promise.all(names.map(name => stateOf(database, name)))).toEqual(['settling', 'recorded', 'released']);
  });

  it('takes them a few at a time, all of them, and beside another process each once', async () => {
    await database.query({
      text: `insert into payment_claim (claim_key, state, field, request_hash, task_id, network, payer, payment_id, amount_atomic,
          reserved_atomic, valid_before, "authorization", landing, request_box, final, claimed_at, moved_at)
        select 'many ' || n, 'released', 'f', 'r', 'task many ' || n, 'base', '0x', 'many ' || n, 2000, 0, 1, '{}', '{}', '', true,
          now(), now() from generate_series(1, $1) n`,
      values: [2 * limits.claims_forgotten_per_transaction_max + 7],
    });
    await Promise.all([forget(), forget()]);
    expect(await database.query({ text: `select 1 from payment_claim where claim_key like 'many %'` })).toEqual([]);
  });
});
