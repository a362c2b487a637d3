import type { SubgraphAddition } from '../../subgraph.ts';
import { BoardFunding, BoardFundingHead } from './funding.entity.ts';
import { ScoreBaseline } from './migration.ts';
import { EndpointScoreResolver } from './score.resolver.ts';

/**
 * Entities, migrations and resolvers that scores add to the board. The columns of posts that scores use are defined with the posts: see
 * `../post/README.md`.
 */
export const scoreAddition: SubgraphAddition = {
  entities: [BoardFunding, BoardFundingHead],
  migrations: [ScoreBaseline],
  resolvers: [EndpointScoreResolver],
};
