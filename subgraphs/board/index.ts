import { buildSubgraph, type Subgraph } from '../subgraph.ts';
import { BoardBaseline } from './migration.ts';
import { BoardPost } from './post/post.entity.ts';
import { BoardPostResolver } from './post/post.resolver.ts';

export const boardEntities = [BoardPost];
export const boardMigrations = [BoardBaseline];

export function boardSubgraph(): Promise<Subgraph> {
  return buildSubgraph('board', { resolvers: [BoardPostResolver], orphanedTypes: [BoardPost] });
}
