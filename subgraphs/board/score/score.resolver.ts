import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Ctx, Directive, Field, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { hostNamed } from '../../../schema/board/endpoint.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { requireNotHalted } from '../../receipt/log/while-halted.ts';
import type { BoardContext } from '../context.ts';
import { scoreDocument } from './document.ts';
import { readInputs } from './read.ts';

@ObjectType({ description: 'How an endpoint has done, by what agents have paid there and reported.' })
export class EndpointScore {
  @Field(() => String, { description: 'The host that it is of.' }) endpointHost!: string;
  @Field(() => Int, {
    nullable: true,
    description: 'Score in basis points, 0 to 10,000. Null if no report rests on evidence that the rule accepts.',
  })
  scoreBp!: number | null;
  @Field(() => String, {
    nullable: true,
    description: 'Why there is no score: `no_reports` or `no_accepted_evidence`. Null if there is one.',
  })
  unscoredBecause!: string | null;
  @Field(() => Int, { nullable: true, description: 'The last block of Base that any of it was looked at in.' })
  asOfBlock!: number | null;
  @Field(() => String, { description: 'SHA-256 of the canonical edges by which payers were merged.' })
  edgesHash!: string;
  @Field(() => GraphQLJSONObject, {
    description: 'The score with all that it was run on, and what it costs to move it: whoever has it runs it again.',
  })
  document!: JsonObject;
}

@Resolver(() => EndpointScore)
export class EndpointScoreResolver {
  @Directive('@cost(weight: 500)')
  @Query(() => EndpointScore, { nullable: true, description: 'The score of an endpoint, by its host.' })
  async endpointScore(
    @Arg('endpoint', () => String, { description: 'A URL or a host.' }) endpoint: string,
    @Ctx() context: BoardContext,
  ): Promise<EndpointScore> {
    const host = hostNamed(endpoint);
    if (host === null)
      throw new Refusal('invalid_request', { param: 'endpoint', detail: 'endpoint is a URL or a host.' });
    requireNotHalted(context.database);
    const document = scoreDocument(host, await readInputs(context, host));
    const { endpoint_host, score_bp, unscored_because, as_of_block, edges_hash } = document;
    const score = { scoreBp: score_bp, unscoredBecause: unscored_because };
    return { endpointHost: endpoint_host, ...score, asOfBlock: as_of_block, edgesHash: edges_hash, document };
  }
}
