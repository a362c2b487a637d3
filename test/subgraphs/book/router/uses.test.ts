import { expect, it } from 'vitest';
import { openStore } from '../../../../gateway/parts.ts';
import { takeUses } from '../../../../subgraphs/book/router/take-uses.ts';
import { giveBackUse } from '../../../../subgraphs/book/router/uses.ts';
import { forgetUses, takeUse } from '../../../../subgraphs/counted-use.ts';
import { freshDatabase } from '../../../harness/database.ts';
import { atEnd } from '../../../harness/release.ts';

const database = await openStore((await freshDatabase()).url);
atEnd(() => database.close());
const counted = async (holder: string) =>
  (await database.query<{ uses: number }>({ text: 'select uses from router_use where holder = $1', values: [holder] }))
    .map(({ uses }) => uses)
    .sort();

it('of many at once no more take than may, and one that is given back is there again', async () => {
  const use = { holder: 'a', period: 'hour', max: 5 } as const;
  const rests = await Promise.all(Array.from({ length: 20 }, () => takeUse(database, 'router_use', use)));
  expect(rests.filter(rest => rest === null)).toHaveLength(5);
  for (const rest of rests) expect(rest ?? 1).toSatisfy((seconds: number) => seconds > 0 && seconds <= 3_600);
  await giveBackUse(database, use);
  expect([await takeUse(database, 'router_use', use), (await takeUse(database, 'router_use', use)) === null]).toEqual([
    null,
    false,
  ]);
});

it('a batch takes all that each of it counts against or none, in its order; two batches never wait for each other', async () => {
  const of = (holder: string, max: number) => ({ holder, period: 'day', max }) as const;
  const wanting = (books: readonly string[]) => books.map(name => ({ name, uses: [of(name, 2), of('address', 5)] }));
  const batches = [
    ['x', 'y', 'z', 'x'],
    ['z', 'y', 'x', 'z'],
  ];
  const full = await Promise.all(batches.map(books => database.transaction(tx => takeUses(tx, wanting(books)))));
  expect(full.reduce((sum, { size }) => sum + size, 0)).toBeGreaterThan(0);
  expect(await counted('address')).toEqual([5]);
  for (const book of ['x', 'y', 'z']) expect(Number((await counted(book))[0])).toBeLessThanOrEqual(2);
});

it('what is over is forgotten, and what is in force is not', async () => {
  await database.query({ text: `insert into router_use values ('old', now() - interval '3 days', 7)` });
  await forgetUses(database, 'router_use');
  expect([await counted('old'), (await counted('address')).length]).toEqual([[], 1]);
});
