import { beforeAll, expect, it } from 'vitest';
import type { NetworkName } from '../../../../schema/network.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { forgetClaims } from '../../../../subgraphs/receipt/claim/forget.ts';
import { walletRevertedLately } from '../../../../subgraphs/receipt/claim/former-payments.ts';
import { abandonClaim, beginSettling, markFinal } from '../../../../subgraphs/receipt/claim/transitions.ts';
import { claim, claimRequest, stateOf } from '../../../harness/claim/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

const REST_SECONDS = 600;
const forget = (reverted_seconds: number) =>
  forgetClaims(database, { answer_hours: 24, lapsed_seconds: 3_600, reverted_seconds });

/** A payment that expired and was released for good, before or after it was sent. */
async function ranOut(payer: string, network: NetworkName, sent: boolean): Promise<void> {
  const authorization = { signature: { kind: 'partial' } };
  const [outcome] = await claim(database, claimRequest(payer, { payer, network, authorization, valid_before: 1 }));
  if (outcome?.kind !== 'claimed') throw new Error('it was to be claimed');
  const { lease } = outcome;
  await database.transaction(async tx => {
    if (sent) await beginSettling(tx, [{ ...lease, settlement_id: 's', from_block: 1, answer_box: null, worked: {} }]);
    await abandonClaim(tx, lease, 'expired', true);
    await markFinal(tx, { claimKey: payer, leaseEpoch: lease.lease_epoch });
  });
}

it.each<[string, NetworkName, boolean, boolean]>([
  ['on Solana before it was sent', 'solana', false, true],
  ['on Solana after it was sent', 'solana', true, false],
  ['on Base', 'base', false, false],
])('a payer rests after a payment that ran out: %s', async (name, network, sent, rests) => {
  await ranOut(name, network, sent);
  await forget(REST_SECONDS);
  expect(await stateOf(database, name)).toBe(rests ? 'released' : undefined);
  expect(await walletRevertedLately(database, name, REST_SECONDS)).toBe(rests);
  expect(await walletRevertedLately(database, name, 0)).toBe(false);
  await forget(0);
  expect(await stateOf(database, name)).toBeUndefined();
});
