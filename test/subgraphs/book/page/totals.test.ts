import { beforeAll, describe, expect, it } from 'vitest';
import { agentId } from '../../../../schema/ids.ts';
import { limits } from '../../../../schema/limits.ts';
import { exportExtent } from '../../../../subgraphs/book/export/audit.ts';
import { scopeOf } from '../../../../subgraphs/book/export/publish.ts';
import { exportedPage, readingOf } from '../../../../subgraphs/book/export/read.ts';
import { StreamRoom } from '../../../../subgraphs/book/export/room.ts';
import { totalsBy } from '../../../../subgraphs/book/page/totals.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { bookOf } from '../../../harness/export/book.ts';
import { withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

/** A book with that many models and days, each with one row of a different amount. */
async function countedBook(agent: number, groups: number): Promise<void> {
  await withBooks(database, agent);
  await database.query({
    text: `insert into book_sum (agent_id, dimension, period, bucket, rail, count, amount, first_seq, last_seq)
      select $1, d.dimension, to_timestamp(n * 86400), case d.dimension when 'model' then 'model-' || n else '' end, 'usdc', 1, n, n, n
      from generate_series(1, $2) n, (values ('model'), ('day')) d(dimension)`,
    values: [agent, groups],
  });
}

describe('totals by what rows have in common', () => {
  const max = limits.totals_groups_max;

  it('say that there are more than they show: older days, models of less', async () => {
    await countedBook(1, max + 1);
    const totals = await totalsBy(database, agentId(1), ['DAY', 'MODEL'], {});
    expect(totals).toHaveLength(2 * max);
    expect(totals.every(({ truncated }) => truncated)).toBe(true);
    expect(totals[0]).toMatchObject({ by: 'DAY', period: new Date(2 * 86_400_000), amount: 2n });
    expect(totals[max - 1]).toMatchObject({ by: 'DAY', amount: BigInt(max + 1) });
    expect(totals[max]).toMatchObject({ by: 'MODEL', key: `model-${max + 1}` });
    expect(totals.at(-1)).toMatchObject({ by: 'MODEL', key: 'model-2' });
  });

  it('say nothing of the kind where they show all', async () => {
    await countedBook(2, max);
    const totals = await totalsBy(database, agentId(2), ['DAY', 'MODEL'], {});
    expect(totals).toHaveLength(2 * max);
    expect(totals.some(({ truncated }) => truncated)).toBe(false);
  });
});

describe('a page of an export whose rows are too many to be counted', () => {
  const uncounted = { count: null, usdc_sum: null } as const;

  it('is truncated where a row that matches is not on it, and not by a `before` beyond the newest', async () => {
    await bookOf(database, agentId(3), [{}, {}, {}]);
    const extent = async (before: number | null, limit = 200) => {
      const page = await exportedPage(readingOf(database), scopeOf(3, {}, limit), before, '');
      return exportExtent({ ...page, matching: uncounted }, null).truncated;
    };
    expect(await extent(null)).toBe(false);
    expect(await extent(4)).toBe(false);
    expect(await extent(3)).toBe(true);
    expect(await extent(null, 2)).toBe(true);
  });
});

describe('room of streams', () => {
  it('is taken while rows are counted, too, and given back where that fails', async () => {
    const room = new StreamRoom();
    const { promise, resolve } = Promise.withResolvers<void>();
    const counting = [1, 2].map(() => room.during(agentId(1), () => promise));
    expect(() => room.requireRoom(agentId(1))).toThrow('Too many exports');
    await expect(room.during(agentId(1), async () => {})).rejects.toThrow('Too many exports');
    resolve();
    await Promise.all(counting);
    await expect(room.during(agentId(1), () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    room.requireRoom(agentId(1));
  });
});
