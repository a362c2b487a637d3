import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../../subgraphs/database.ts';
import { contractPayersAmong } from '../../../../subgraphs/receipt/claim/former-payments.ts';
import { beginSettling } from '../../../../subgraphs/receipt/claim/transitions.ts';
import { claim, claimRequest } from '../../../harness/claim/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

const DAY_SECONDS = 24 * 3_600;

/** A payment by that wallet. It was sent that many days ago, or not at all if null. */
async function paid(payer: string, kind: 'contract' | 'ecdsa', days_ago: number | null): Promise<void> {
  const [outcome] = await claim(database, claimRequest(payer, { payer, authorization: { signature: { kind } } }));
  if (outcome?.kind !== 'claimed') throw new Error('it was to be claimed');
  if (days_ago === null) return;
  const moving = { ...outcome.lease, settlement_id: 's', from_block: 1, answer_box: null, worked: {} };
  await database.transaction(async tx => void (await beginSettling(tx, [moving])));
  const text = `update payment_claim set moved_at = now() - make_interval(days => $2) where claim_key = $1`;
  await database.query({ text, values: [payer, days_ago] });
}

it('whose code has paid is known for ever, and apart from it whether that was lately; a key, or who never paid, is not', async () => {
  await paid('lately', 'contract', 0);
  await paid('long ago', 'contract', 40);
  await paid('claimed alone', 'contract', null);
  await paid('a key', 'ecdsa', 0);
  const among = ['lately', 'long ago', 'claimed alone', 'a key', 'nobody'];
  expect(await contractPayersAmong(database, among, DAY_SECONDS)).toEqual([
    { payer: 'lately', lately: true },
    { payer: 'long ago', lately: false },
  ]);
});
