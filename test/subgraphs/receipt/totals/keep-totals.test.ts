import { expect, it } from 'vitest';
import { keepTotals } from '../../../../subgraphs/receipt/totals/integrate.ts';
import { openTotals, paidCallOf } from '../../../harness/receipt/totals.ts';

const statements = { text: 'select tree_size from totals_state where statement is not null' };

it('a process whose key signs no more leaves the totals to another, which follows the log to its end', async () => {
  const { parts, database } = await openTotals();
  for (const number of [0, 1, 2]) await database.issueCalls(parts.issuer, [paidCallOf(number, 1, 2_000n)]);
  const { signal } = new AbortController();
  for (const standing of ['retired', 'revoked'] as const) {
    const issuer = Object.create(parts.issuer, { standing: { value: standing } });
    await keepTotals({ ...parts, issuer }, signal);
    expect(await database.query(statements)).toEqual([]);
  }
  await keepTotals(parts, signal);
  expect(await database.query(statements)).toEqual([{ tree_size: 3 }]);
});
