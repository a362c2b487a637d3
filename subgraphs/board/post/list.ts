import type { FilterQuery } from '@mikro-orm/core';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';
import { DatabaseAway, isOutage } from '../../outage.ts';
import { BoardPost, type Outcome } from './post.entity.ts';

export interface PostFilter {
  readonly type: Outcome | null;
  readonly endpoint: string | null;
}

/** Newest first. @throws Refusal invalid_request where a filter can match nothing by its form. */
export async function listPosts(database: Database, filter: PostFilter): Promise<BoardPost[]> {
  const where: FilterQuery<BoardPost> = { hidden: false };
  if (filter.type !== null) where.outcome = filter.type;
  if (filter.endpoint !== null) where.endpointHost = hostOf(filter.endpoint);
  const found = database.orm.em.fork().find(BoardPost, where, {
    orderBy: { postedAt: 'desc', postId: 'desc' },
    limit: limits.board_page_posts_max,
    disableIdentityMap: true,
  });
  return found.catch(error => {
    throw isOutage(error) ? new DatabaseAway(error) : error;
  });
}

/** `https://api.example/v1` and `api.example` name the same host. */
function hostOf(endpoint: string): string {
  const url = URL.parse(endpoint.includes('://') ? endpoint : `https://${endpoint}`);
  if (!url?.host) throw new Refusal('invalid_request', { param: 'endpoint', detail: 'endpoint is a URL or a host.' });
  return url.host;
}
