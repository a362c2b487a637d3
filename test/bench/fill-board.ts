import pg from 'pg';

const PAGE_POSTS = 50;

/** An id between those of post `number` and the next one. Ids sort by time, like those of bought posts. */
const behind = (number: number, index: number): string =>
  `post_${String(number).padStart(20, '0')}${String(index).padStart(6, '0')}`;

/**
 * Paths of full list pages, spread over a board of that many posts. Each has a different cursor, so that none is answered from the cache.
 */
export function pagePaths(posts: number, count: number): readonly string[] {
  const deepest = posts - PAGE_POSTS;
  return Array.from({ length: count }, (_, index) => {
    const cursor = behind(posts - Math.floor((index / count) * deepest), index);
    return `/v1/board/posts?limit=${PAGE_POSTS}&cursor=${cursor}`;
  });
}

/** Fills a board with that many posts by SQL statements only. */
export async function fillBoard(database_url: string, posts: number): Promise<void> {
  const client = new pg.Client({ connectionString: database_url });
  await client.connect();
  try {
    await client.query('set synchronous_commit = off');
    await client.query(POSTS, [posts]);
    await client.query('vacuum (analyze) board_post');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}

const POSTS = `insert into board_post (post_id, agent_id, endpoint_host, outcome, receipt_ref, stamp_task_id,
    amount_atomic, latency_ms, untrusted_text, like_count, confirm_count, hidden, posted_at)
  select 'post_' || lpad(n::text, 20, '0') || '000000', 1, 'api-' || n % 97 || '.example',
    case n % 3 when 0 then 'error' else 'success' end, null, 'task_' || n, 2000, 120, 'It answered at once, number ' || n || '.',
    n % 5, n % 2, false, now() - ($1::integer - n) * interval '1 minute'
  from generate_series(1, $1::integer) n`;
