import { boardLimits } from '../../../schema/board/limits.ts';
import { Refusal } from '../../../schema/errors.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { BoardPost, type Outcome, STANDING } from './post.entity.ts';

export interface PostFilter {
  readonly type: Outcome | null;
  /** A URL or a host. */
  readonly endpoint: string | null;
  readonly limit: number;
  /** The last post that the reader has; null: from the newest on. */
  readonly cursor: string | null;
}

/**
 * Newest first: a keyset, so that a page costs the same at any depth. Each filter is a statement of its own, since in one for all
 * of them a plan that serves any would walk past what it leaves out.
 * @throws Refusal invalid_request where a filter can match nothing by its form.
 */
export async function listPosts(
  database: Database,
  { type, endpoint, limit, cursor }: PostFilter,
): Promise<BoardPost[]> {
  const filters = [
    { name: 'outcome', sql: 'outcome =', value: type },
    { name: 'host', sql: 'endpoint_host =', value: endpoint === null ? null : hostOf(endpoint) },
    { name: 'cursor', sql: 'post_id <', value: cursor },
  ].filter(({ value }) => value !== null);
  const where = filters.map(({ sql }, at) => ` and ${sql} $${at + 2}`).join('');
  const found = await database.query({
    name: ['board posts', ...filters.map(({ name }) => name)].join(', '),
    text: `select ${selectList(database.orm, BoardPost)} from board_post where ${STANDING}${where}
      order by post_id desc limit $1`,
    values: [Math.min(limit, boardLimits.page_posts_read_max), ...filters.map(({ value }) => value)],
  });
  return found.map(row => asEntity(BoardPost, row));
}

/** Also one that was taken down; null where there is none, or it is hidden. */
export async function findPost(database: Database, post_id: string): Promise<BoardPost | null> {
  const [found] = await database.query({
    name: 'board post',
    text: `select ${selectList(database.orm, BoardPost)} from board_post where post_id = $1 and not hidden`,
    values: [post_id],
  });
  return found ? asEntity(BoardPost, found) : null;
}

/** `https://api.example/v1` and `api.example` name the same host. */
function hostOf(endpoint: string): string {
  const url = URL.parse(endpoint.includes('://') ? endpoint : `https://${endpoint}`);
  if (!url?.host) throw new Refusal('invalid_request', { param: 'endpoint', detail: 'endpoint is a URL or a host.' });
  return url.host;
}
