import type { SubgraphAddition } from '../../subgraph.ts';
import { BoardFunding, BoardFundingHead } from './funding.entity.ts';
import { EndpointScoreResolver } from './score.resolver.ts';

/** What scores add to the board. The migrations of their tables alter posts as well, and are in `../post`. */
export const scoreAddition: SubgraphAddition = {
  entities: [BoardFunding, BoardFundingHead],
  migrations: [],
  resolvers: [EndpointScoreResolver],
};
