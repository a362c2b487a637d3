import { expect, it } from 'vitest';
import type { SettleItem } from '../../../../gateway/rails/base/settle/batch.ts';
import { journalHandOver } from '../../../../gateway/rails/facilitator/settler.ts';
import { systemRandom } from '../../../../subgraphs/clock.ts';
import type { Database, Tx } from '../../../../subgraphs/database.ts';
import { DatabaseAway } from '../../../../subgraphs/outage.ts';

/** The database as a process that was suspended at its commit sees it: its transaction is undone, and run again. */
const stoodStill = {
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    await work({ query: async () => ({ rows: [], rowCount: 0 }) } as unknown as Tx);
    return work({} as Tx);
  },
  query: async () => [],
} as unknown as Database;

it('a payment that could not be journalled once more was not: nothing of its first time counts', async () => {
  const item = { claim_key: 'one', authorization: { network: 'base', valid_before_seconds: 1 } } as SettleItem;
  let runs = 0;
  const commitSettling = async () => {
    if (++runs > 1) throw new DatabaseAway(new Error('locked'));
    return new Set(['one']);
  };
  const parts = { database: stoodStill, random: systemRandom, commitSettling };
  expect(await journalHandOver(parts, item, 1)).toMatchObject({ kind: 'failed' });
  expect(runs).toBe(2);
});
