import { toSnakeKeys, withoutNull } from '../../../schema/camel.ts';
import { PostFilterRequest } from '../../../schema/requests/board.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { type PostFilter, postRows } from './list.ts';
import { Outcome } from './post.entity.ts';

/* Which posts a query of the graph asks for. */

const { author_agent_id: of_agent, backing: of_backing } = PostFilterRequest.shape;
export const POSTS_OF_AGENT = of_agent.description ?? '';
export const POSTS_OF_BACKING = of_backing.description ?? '';

interface Asked {
  readonly type?: Outcome | null | undefined;
  readonly endpoint?: string | null | undefined;
  readonly authorAgentId?: number | null | undefined;
  readonly backing?: string | null | undefined;
  readonly limit?: number | null | undefined;
  readonly cursor?: string | null | undefined;
}

/** @throws invalid_request */
export function postFilter({ type, endpoint, ...asked }: Asked): PostFilter {
  const { limit, cursor, author_agent_id, backing } = parseRequest(
    PostFilterRequest,
    toSnakeKeys(withoutNull({ ...asked })),
  );
  return {
    type: type ?? null,
    endpoint: endpoint ?? null,
    author_agent_id: author_agent_id ?? null,
    backing: backing ?? null,
    limit: postRows(limit),
    cursor: cursor ?? null,
  };
}
