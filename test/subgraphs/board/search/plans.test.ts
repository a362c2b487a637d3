import { beforeAll, describe, expect, it } from 'vitest';
import { BY_WORDS, searchBoard } from '../../../../subgraphs/board/search/search.ts';
import { valueAt } from '../../../harness/database.ts';
import { administer } from '../../../harness/global.ts';
import { freshStore } from '../../../harness/store.ts';

/* A search reads only the rows with a rare word, or the newest rows, and never the whole board, for any query. */

const POSTS = 100_000;
const database = await freshStore();

beforeAll(async () => {
  const words = await valueAt(database.url, `select pg_get_indexdef('board_post_words'::regclass)`);
  for (const text of [
    // Building the index once at the end takes a tenth of the time. Similar words are not searched here.
    'drop index board_post_words, board_post_similar',
    `insert into board_post (post_id, agent_id, endpoint_host, outcome, stamp_task_id, amount_atomic, untrusted_text, posted_at)
      select 'post_01m8d' || lpad(n::text, 21, '0'), 1, 'h' || n % 500 || '.example', 'success', 'task_x', 2000,
        'the service answered slowly word' || n % 7919 || case when n <= 20000 then ' bygone' else '' end, now()
      from generate_series(1, ${POSTS}) n`,
    String(words),
    'analyze board_post',
  ])
    await administer(database.url, text);
});

async function planOf(words: string): Promise<string> {
  const rows = await database.query<Record<string, string>>({
    text: `explain (analyze, costs off, timing off, summary off, buffers off) ${BY_WORDS}`,
    values: [21, null, words],
  });
  return rows.map(row => Object.values(row)[0]).join('\n');
}
const rowsLeftOut = (plan: string) =>
  [...plan.matchAll(/Rows Removed by (?:Filter|Index Recheck): (\d+)/g)].map(([, rows]) => Number(rows));
const found = async (query: string) => {
  const { hits } = await searchBoard(database, { query, address: '', base_url: '' });
  return hits.map(({ id }) => id);
};
/** The matching posts, found by reading all of them. */
const standing = async (pattern: string) =>
  (
    await database.query<{ post_id: string }>({
      text: `select post_id from board_post where untrusted_text ~ $1 order by post_id desc limit 20`,
      values: [pattern],
    })
  ).map(({ post_id }) => post_id);

describe('of a hundred thousand posts', () => {
  it.each([
    ['a word that nobody has written', 'zzword', 0],
    ['a word of thirteen', 'word77', 13],
    ['a word that only the oldest have', 'bygone', 20],
    ['a phrase of a rare word', '"slowly word77"', 13],
  ])('%s is sought by its index', async (_, words, hits) => {
    const plan = await planOf(words);
    expect(plan).toContain('Bitmap Index Scan on board_post_words');
    expect(Math.max(0, ...rowsLeftOut(plan))).toBeLessThanOrEqual(500);
    expect(await found(words)).toHaveLength(hits);
  });

  it.each(['service', 'slowly -bygone', '"service answered"'])(
    'what nearly all hold is read among the newest: %s',
    async words => {
      const plan = await planOf(words);
      expect(plan).toMatch(/CTE every_post\n(.*\n)*?.*never executed/);
      expect(Math.max(0, ...rowsLeftOut(plan))).toBeLessThanOrEqual(500);
      expect(await found(words)).toHaveLength(20);
    },
  );

  it('the newest that match are found, whichever way they are sought', async () => {
    expect(await found('word77')).toEqual(await standing('word77( |$)'));
    expect(await found('service')).toEqual(await standing('service'));
    expect(await found('bygone')).toEqual(await standing('bygone'));
  });
});
