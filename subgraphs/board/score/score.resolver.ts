import { Args, Ctx, Directive, Query, Resolver } from 'type-graphql';
import { hostNamed } from '../../../schema/board/endpoint.ts';
import { EndpointScoreViewNoun } from '../../../schema/board/score.ts';
import { Refusal } from '../../../schema/errors.ts';
import { EndpointPath } from '../../../schema/requests/board.ts';
import { type Arguments, argumentsType, objectType, readRequest } from '../../graph-type.ts';
import { requireNotHalted } from '../../receipt/log/while-halted.ts';
import type { BoardContext } from '../context.ts';
import { scoreDocument } from './document.ts';
import { readInputs } from './read.ts';

const EndpointScore = objectType(
  'EndpointScore',
  'How an endpoint has done, by what agents have paid there and reported.',
  EndpointScoreViewNoun,
);
type EndpointScore = InstanceType<typeof EndpointScore>;

const ScoreArguments = argumentsType(EndpointPath);

@Resolver(() => EndpointScore)
export class EndpointScoreResolver {
  @Directive('@cost(weight: 500)')
  @Query(() => EndpointScore, { nullable: true, description: 'The score of an endpoint, by its host.' })
  async endpointScore(
    @Args(() => ScoreArguments) asked: Arguments,
    @Ctx() context: BoardContext,
  ): Promise<EndpointScore> {
    const { host } = readRequest(EndpointPath, asked);
    if (hostNamed(host) === null)
      throw new Refusal('invalid_request', { param: 'endpoint', detail: 'endpoint is a URL or a host.' });
    requireNotHalted(context.database);
    const document = scoreDocument(host, await readInputs(context, host));
    const { endpoint_host, score_bp, unscored_because, as_of_block, edges_hash } = document;
    const score = { scoreBp: score_bp, unscoredBecause: unscored_because };
    return { endpointHost: endpoint_host, ...score, asOfBlock: as_of_block, edgesHash: edges_hash, document };
  }
}
