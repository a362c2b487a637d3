import { Refusal } from '../../../schema/errors.ts';
import { RawJson } from '../../../schema/json-text.ts';
import { boardLimits } from '../../../schema/limits.ts';
import type { PostPageRequest } from '../../../schema/requests/board.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { limitedRows, pageColumns, pageStatement, readPage } from '../written-list.ts';
import { BoardPost, STANDING } from './post.entity.ts';

/* Pages of posts by keyset, as entities or as JSON that Postgres writes. */

/** Filter of published posts, listed newest first, page by page. */
export interface PostFilter extends PostPageRequest {
  readonly limit: number;
}

/** The filter of a request, with its limit applied. */
export function postFilter(asked: PostPageRequest): PostFilter {
  return { ...asked, limit: Math.min(asked.limit ?? boardLimits.page_posts_default, boardLimits.page_posts_max) };
}

/** A page of published posts, newest first, and the start of the next page. */
export interface PostPage {
  readonly filter: PostFilter;
  readonly posts: RawJson | readonly BoardPost[];
  readonly nextCursor: string | null;
}

/**
 * Reads published posts, newest first, by keyset, so that a page costs the same at any depth.
 * @throws Refusal invalid_request if `endpoint` is neither a URL nor a host.
 */
export async function listPosts(database: Database, { limit, ...filter }: PostFilter): Promise<BoardPost[]> {
  const { select, values, name } = newest(filter, 1);
  const found = await database.query({ name, text: select(selectList(BoardPost)), values: [limit, ...values] });
  return found.map(row => asEntity(BoardPost, row));
}

/**
 * Reads a page of posts as entities, with the start of the next page. One row more than is shown is read, to find out whether there is a
 * next page.
 */
export async function pageOfPosts(database: Database, filter: PostFilter): Promise<PostPage> {
  const found = await listPosts(database, { ...filter, limit: filter.limit + 1 });
  const posts = found.slice(0, filter.limit);
  const last = posts.at(-1);
  return { filter, posts, nextCursor: found.length > posts.length && last ? last.postId : null };
}

/**
 * Reads a page of posts as JSON text by a single statement. `post`: an SQL expression for one post, over `board_post r` and `$1`, which is
 * the base URL.
 */
export async function writtenPage(
  database: Database,
  filter: PostFilter,
  { post, base_url }: { readonly post: string; readonly base_url: string },
): Promise<PostPage & { readonly posts: RawJson }> {
  const { name, select, values } = newest(filter, 2);
  const statement = pageStatement(name, post, () => {
    const columns = pageColumns({ item: post, id: 'post_id', order: 'desc', rows: '$2' });
    return `select ${columns} from (${select('*')}) r where $1::text is not null`;
  });
  const found = await readPage(database, statement, [base_url, filter.limit + 1, ...values]);
  return { filter, posts: found?.items ?? new RawJson('[]'), nextCursor: found?.next ?? null };
}

/**
 * The statement for the newest posts. Their number is the parameter with the number `limit`. Each combination of filters has its own
 * statement, because a plan that serves all of them would read past the posts that a filter leaves out.
 *
 * The index of a filter is sorted by its first column and then by id. The page has the same order, with one value in that column. With `=`,
 * Postgres takes the column as constant and may walk back through the whole board by id, which is slow if few posts match or all of them
 * are old. With `= any` it does not.
 */
function newest({ type, endpoint, author_agent_id, backing, cursor }: Omit<PostFilter, 'limit'>, limit: number) {
  const host = endpoint === undefined ? undefined : hostOf(endpoint);
  const filters = [
    // The author comes first: an author has few posts, so the other filters are applied to those.
    { name: 'agent', column: 'agent_id', of: 'integer', by: '=', value: author_agent_id },
    { name: 'host', column: 'endpoint_host', of: 'text', by: '=', value: host },
    { name: 'outcome', column: 'outcome', of: 'text', by: '=', value: type },
    { name: 'backing', column: 'spend_backed', of: 'boolean', by: '=', value: backing && backing === 'spend-backed' },
    { name: 'cursor', column: 'post_id', of: 'text', by: '<', value: cursor },
  ].filter(({ value }) => value !== undefined);
  const first = filters[0]?.by === '=' ? filters[0].column : null;
  const bound = ({ column, of, by }: (typeof filters)[number], at: number) =>
    column === first ? `= any($${at}::${of}[])` : `${by} $${at}`;
  const where = filters.map((filter, at) => ` and ${filter.column} ${bound(filter, limit + at + 1)}`).join('');
  const order = [...(first ? [first] : []), 'post_id'].map(column => `${column} desc`).join(', ');
  return {
    name: ['board posts', ...filters.map(({ name }) => name)].join(', '),
    select: (columns: string) =>
      limitedRows(
        `select ${columns} from board_post where ${STANDING}${where} order by ${order}`,
        boardLimits.page_posts_max + 1,
        `$${limit}`,
      ),
    values: filters.map(({ column, value }) => (column === first ? [value] : value)),
  };
}

/** A post by its id, also if it was taken down. Null if there is none, or if it is hidden. */
export async function findPost(database: Database, post_id: string): Promise<BoardPost | null> {
  const [found] = await database.query({
    name: 'board post',
    text: `select ${selectList(BoardPost)} from board_post where post_id = $1 and not hidden`,
    values: [post_id],
  });
  return found ? asEntity(BoardPost, found) : null;
}

/** Host of an endpoint: `https://api.example/v1` and `api.example` name the same host. */
function hostOf(endpoint: string): string {
  const url = URL.parse(endpoint.includes('://') ? endpoint : `https://${endpoint}`);
  if (!url?.host)
    throw new Refusal('invalid_request', { param: 'endpoint', detail: 'endpoint must be a URL or a host.' });
  return url.host;
}
