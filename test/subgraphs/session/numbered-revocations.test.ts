import { expect, it } from 'vitest';
import { openStore } from '../../../gateway/parts.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { keepRevocation, lockRevocations } from '../../../subgraphs/receipt/issuer/revoked-sessions.ts';
import { atEnd } from '../../harness/release.ts';
import { freshStore } from '../../harness/store.ts';

/** Inserts a revocation as a version without numbers does. */
const byEarlierVersion = (database: Database, delegation_hash: string) =>
  database.transaction(async tx => {
    tx.write({
      text: `insert into session_revocation (delegation_hash, payer, at, signature, revoked_at)
        values ($1, '0x', 1, '0x', clock_timestamp()) on conflict do nothing`,
      values: [delegation_hash],
    });
    if (delegation_hash.endsWith('undone')) throw new Error('undone');
  });

const byThisVersion = (database: Database, delegation_hash: string) =>
  database.transaction(async tx => {
    lockRevocations(tx);
    return keepRevocation(tx, { delegation_hash, payer: '0x', at: 1, signature: '0x' }, false);
  });

it('while a process goes on that knows of no numbers, what either of both revokes is numbered without a gap', async () => {
  const one = await freshStore();
  // Opens further connections, like another process.
  const before = await openStore(one.url);
  atEnd(() => before.close());
  const races = Array.from({ length: 60 }, async (_, index) => {
    if (index % 5 === 0) return byEarlierVersion(before, `0x${index} undone`).catch(() => {});
    if (index % 2 === 0) return byEarlierVersion(before, `0x${index}`);
    const { seq } = await byThisVersion(one, `0x${index}`);
    expect(seq).toBeGreaterThan(0);
  });
  await Promise.all(races);
  // A repeated revocation takes no number.
  await byEarlierVersion(before, '0x2');
  await byThisVersion(one, 'last');
  const numbers = await one.query<{ seq: number }>({ text: 'select seq from session_revocation order by seq' });
  expect(numbers.map(({ seq }) => seq)).toEqual(numbers.map((_, index) => index + 1));
  expect(numbers).toHaveLength(60 - 12 + 1);
});
