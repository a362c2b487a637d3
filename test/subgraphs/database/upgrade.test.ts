import { expect, it } from 'vitest';
import { openStore } from '../../../gateway/store.ts';
import { freshDatabase } from '../../harness/database.ts';
import { collectAll, collection, withBooks } from '../book/ledger/fixture.ts';

it('a book that was spent from before it had caps knows what this hour and this day have collected', async () => {
  const { url } = await freshDatabase();
  const store = await openStore(url);
  await withBooks(store, 1, 2);
  await store.transaction(tx => collectAll(tx, [collection(1, 1), collection(1, 2), collection(1, 3)]));
  const heads = 'select agent_id, hour_start, hour_atomic, day_start, day_atomic, policy from book order by agent_id';
  const before = await store.query({ text: heads });
  // As it stood: one row of this hour is an older day's.
  await store.query({ text: `update book_row set collected_at = collected_at - interval '1 day' where seq = 1` });
  await store.query({
    text: `alter table book drop column policy, drop column hour_start, drop column hour_atomic,
      drop column day_start, drop column day_atomic`,
  });
  await store.query({ text: `delete from mikro_orm_migrations where name = 'BookPolicyColumns'` });
  await store.close();

  const upgraded = await openStore(url);
  const after = await upgraded.query({ text: heads });
  await upgraded.close();
  expect(after).toEqual([{ ...before[0], hour_atomic: 4000n, day_atomic: 4000n }, before[1]]);
  expect(before[0]).toMatchObject({ hour_atomic: 6000n, policy: {} });
});
