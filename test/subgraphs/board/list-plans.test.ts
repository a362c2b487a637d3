import 'reflect-metadata';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { listFlagged } from '../../../subgraphs/board/flag/flag-list.resolver.ts';
import { listJobs, writtenJobs } from '../../../subgraphs/board/job/list.ts';
import { type PostFilter, pageOfPosts, writtenPage } from '../../../subgraphs/board/post/list.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { administer } from '../../harness/global.ts';
import { freshStore } from '../../harness/store.ts';

/* A page reads one row more than it shows, by an index in its order, regardless of the size of the board and of the query. */

const POSTS = 30_000;
const LIMIT = 50;
const database = await freshStore();

beforeAll(async () => {
  for (const text of [
    // Filling these indexes takes time for each row, and no query here searches texts.
    'drop index board_post_words, board_post_similar, board_job_words, board_job_similar',
    `insert into board_post (post_id, agent_id, receipt_ref, endpoint_host, outcome, stamp_task_id, amount_atomic, hidden, posted_at)
      select 'post_' || lpad(n::text, 26, '0'), n % 11, case when n <= 2000 then 'task_r' end, 'h' || n % 5 || '.example', case when n <= 1000 then 'double_charge' when n % 50 = 7 then 'error' else 'success' end,
        'task_x', 2000, n % 7 = 0, now() from generate_series(1, ${POSTS}) n`,
    `insert into board_job (job_id, agent_id, state, untrusted_text, budget_atomic, deadline, ends_at, stamp_task_id, posted_at)
      select 'job_' || lpad(n::text, 26, '0'), n % 7, state, 'A job', 1000, now(), case state when 'open' then now() + interval '1 day' end,
        'task_x', now()
      from generate_series(1, ${POSTS}) n, lateral (select case when n <= 1000 then 'paid' when n % 50 = 1 then 'open' when n % 3 = 2 then 'expired' else 'closed' end as state) of_job`,
    `update board_job set ends_at = now() - interval '1 second' where job_id in (select job_id from board_job where state = 'open' limit 5)`,
    `insert into board_flagged (thing_id, post_id, flag_count, flagged_at)
      select post_id, post_id, 1, posted_at from board_post`,
    `update board_job set winner_agent_id = (substr(job_id, 5)::int % 11) where state <> 'open'`,
    'vacuum analyze board_post, board_job, board_flagged',
  ])
    await administer(database.url, text);
});

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/** The plan of the only statement that a read sends. */
async function planOf(read: (database: Database) => Promise<unknown>): Promise<readonly Plan[]> {
  const sent: { text: string; values: unknown[] }[] = [];
  const query = (statement: { text: string; values: unknown[] }) => {
    sent.push(statement);
    return database.query(statement as never);
  };
  await read({ ...database, query } as unknown as Database);
  expect(sent.length).toBe(1);
  const [{ text, values } = { text: '', values: [] }] = sent;
  const own = await nodesOf(database, `explain ${ANALYZE} ${text}`, values);
  // The plan that a connection keeps for its prepared statement, whatever the values are.
  const client = await database.connect();
  try {
    await client.query('set plan_cache_mode = force_generic_plan');
    await client.query(`prepare kept as ${text}`);
    const kept = await nodesOf(client, `explain ${ANALYZE} execute kept(${values.map(literal).join(', ')})`);
    expect(shapeOf(kept)).toEqual(shapeOf(own));
  } finally {
    await client.end();
  }
  return own;
}

const ANALYZE = '(analyze, costs off, timing off, summary off, buffers off, format json)';

type Explained = { readonly 'QUERY PLAN': readonly [{ readonly Plan: Plan }] };

async function nodesOf(on: Database | pg.Client, text: string, values: unknown[] = []): Promise<readonly Plan[]> {
  const found = 'usage' in on ? await on.query<Explained>({ text, values }) : (await on.query<Explained>(text)).rows;
  const nodes: Plan[] = [];
  const walk = (plan: Plan) => {
    nodes.push(plan);
    for (const below of plan.Plans ?? []) walk(below);
  };
  for (const row of found) walk(row['QUERY PLAN'][0].Plan);
  return nodes;
}

const literal = (value: unknown): string =>
  pg.escapeLiteral(Array.isArray(value) ? `{${value.join(',')}}` : String(value));

/** The rows that a plan reads, and by which index. */
const shapeOf = (nodes: readonly Plan[]) =>
  nodes.flatMap(node =>
    node['Relation Name'] && rowsOf([node]) > 0 ? [[node['Relation Name'], node['Index Name'], rowsOf([node])]] : [],
  );

const readOf = (nodes: readonly Plan[], table: string) => nodes.filter(node => node['Relation Name'] === table);
const rowsOf = (nodes: readonly Plan[]) =>
  nodes.reduce(
    (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    0,
  );
const sorts = (nodes: readonly Plan[]) => nodes.filter(node => node['Node Type'].includes('Sort'));

const CURSOR = `post_${'20000'.padStart(26, '0')}`;
const filters: readonly [string, Partial<PostFilter>, string][] = [
  ['the newest', {}, 'board_post_newest'],
  ['behind a cursor', { cursor: CURSOR }, 'board_post_newest'],
  ['of an outcome', { type: 'error' }, 'board_post_outcome'],
  ['of an outcome, behind a cursor', { type: 'error', cursor: CURSOR }, 'board_post_outcome'],
  ['of an outcome that only the oldest have', { type: 'double_charge' }, 'board_post_outcome'],
  ['of a host', { endpoint: 'h2.example' }, 'board_post_host'],
  ['of a host, behind a cursor', { endpoint: 'h2.example', cursor: CURSOR }, 'board_post_host'],
  ['of both', { endpoint: 'h2.example', type: 'error' }, 'board_post_host_outcome'],
  ['of both, behind a cursor', { endpoint: 'h2.example', type: 'error', cursor: CURSOR }, 'board_post_host_outcome'],
  ['of an author', { author_agent_id: 3 }, 'board_post_agent'],
  ['of an author, behind a cursor', { author_agent_id: 3, cursor: CURSOR }, 'board_post_agent'],
  ['with a backing that only the oldest have', { backing: 'spend-backed' }, 'board_post_backing'],
  ['with the other backing, behind a cursor', { backing: 'stamp-backed', cursor: CURSOR }, 'board_post_backing'],
  ['of a host and a backing', { endpoint: 'h2.example', backing: 'spend-backed' }, 'board_post_host_backing'],
  ['of an outcome and a backing', { type: 'success', backing: 'spend-backed' }, 'board_post_outcome_backing'],
];
const filterOf = (asked: Partial<PostFilter>): PostFilter => ({ limit: LIMIT, ...asked });

describe('of thirty thousand posts', () => {
  it.each(filters)(
    'a page as Postgres writes it reads one row more than it shows, by its index: %s',
    async (_, asked, index) => {
      const page = { post: `'{"post_id":'||to_json(r.post_id)::text||'}'`, base_url: 'https://board.example' };
      const nodes = await planOf(it => writtenPage(it, filterOf(asked), page));
      const read = readOf(nodes, 'board_post');
      expect(read.map(node => node['Index Name'])).toEqual([index]);
      expect(rowsOf(read)).toBe(LIMIT + 1);
      // Only the rows of the page itself may be sorted.
      for (const sort of sorts(nodes)) expect(sort['Actual Rows']).toBeLessThanOrEqual(LIMIT + 1);
    },
  );

  it.each(filters)('a page as entities reads no more, and sorts nothing: %s', async (_, asked, index) => {
    const nodes = await planOf(it => pageOfPosts(it, filterOf(asked)));
    const read = readOf(nodes, 'board_post');
    expect(read.map(node => node['Index Name'])).toEqual([index]);
    expect([rowsOf(read), sorts(nodes)]).toEqual([LIMIT + 1, []]);
  });
});

describe('of thirty thousand jobs', () => {
  const before = `job_${'20000'.padStart(26, '0')}`;
  it.each([
    ['all', {}, ['board_job_newest']],
    ['all, behind one', { before }, ['board_job_newest']],
    ['open', { status: 'open' }, ['board_job_state']],
    ['open, behind one', { status: 'open', before }, ['board_job_state']],
    ['that only the oldest are', { status: 'paid' }, ['board_job_state']],
    ['expired, and what is over', { status: 'expired' }, ['board_job_state', 'board_job_ends']],
    ['expired, behind one', { status: 'expired', before }, ['board_job_state', 'board_job_ends']],
    ['refused, and what is over', { status: 'refused' }, ['board_job_state', 'board_job_ends']],
    ['of a poster', { poster_agent_id: 3 }, ['board_job_poster']],
    ['of a poster, behind one', { poster_agent_id: 3, before }, ['board_job_poster']],
    ['of a winner', { winner_agent_id: 4 }, ['board_job_winner']],
  ] as const)('a page reads one row more than it shows, and the few that are over: %s', async (_, asked, indexes) => {
    const page = { limit: LIMIT, ...asked };
    const given = {
      job: `'{"job_id":'||to_json(r.job_id)::text||'}'`,
      base_url: 'https://board.example',
      treasuries: {},
    };
    for (const read of [(it: Database) => listJobs(it, page), (it: Database) => writtenJobs(it, page, given)]) {
      const nodes = await planOf(read);
      const jobs = readOf(nodes, 'board_job');
      expect(jobs.map(node => node['Index Name'])).toEqual(indexes);
      expect(rowsOf(jobs)).toBeLessThanOrEqual(LIMIT + 1 + 5);
      for (const sort of sorts(nodes)) expect(sort['Actual Rows']).toBeLessThanOrEqual(LIMIT + 1 + 5);
    }
  });
});

it.each([undefined, `1600000000000.${CURSOR}`])(
  'a page of what is flagged reads no more than it shows: %s',
  async cursor => {
    const nodes = await planOf(it => listFlagged(it, { limit: LIMIT, cursor }));
    const read = readOf(nodes, 'board_flagged');
    expect(read.map(node => node['Index Name'])).toEqual(['board_flagged_newest']);
    expect(rowsOf(read)).toBeLessThanOrEqual(LIMIT + 1);
  },
);
