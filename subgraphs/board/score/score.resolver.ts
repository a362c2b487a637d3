import { Args, Ctx, Directive, Query, Resolver } from 'type-graphql';
import { hostNamed } from '../../../schema/board/endpoint.ts';
import { EndpointScoreViewNoun, type UnscoredReason } from '../../../schema/board/score.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { Refusal } from '../../../schema/errors.ts';
import { scoreLimits } from '../../../schema/limits.ts';
import { EndpointPath } from '../../../schema/requests/board.ts';
import { type Arguments, argumentsType, objectType, readRequest } from '../../graph-type.ts';
import { requireNotHalted } from '../../receipt/log/halt-guard.ts';
import type { BoardContext } from '../context.ts';
import type { MoveCost } from './move-cost.ts';
import { type ReadInputs, readInputs } from './read.ts';
import { edgesInOrder, SCORE_RULE_VERSION, scoreOf } from './rule.ts';
import { scoreWeights } from './weights.ts';

const EndpointScore = objectType(
  'EndpointScore',
  'Score of an endpoint, by what agents have paid there and reported.',
  EndpointScoreViewNoun,
);
type EndpointScore = InstanceType<typeof EndpointScore>;

const ScoreArguments = argumentsType(EndpointPath);

@Resolver(() => EndpointScore)
export class EndpointScoreResolver {
  @Directive('@cost(weight: 500)')
  @Query(() => EndpointScore, {
    nullable: true,
    description: 'The score of an endpoint, by its host. Null only on error.',
  })
  async endpointScore(
    @Args(() => ScoreArguments) asked: Arguments,
    @Ctx() context: BoardContext,
  ): Promise<EndpointScore> {
    const { host } = readRequest(EndpointPath, asked);
    if (hostNamed(host) === null)
      throw new Refusal('invalid_request', { param: 'endpoint', detail: 'endpoint must be a URL or a host.' });
    requireNotHalted(context.database);
    const document = scoreDocument(host, await readInputs(context, host));
    const { endpoint_host, score_bp, unscored_because, as_of_block, edges_hash } = document;
    const score = { scoreBp: score_bp, unscoredBecause: unscored_because };
    return { endpointHost: endpoint_host, ...score, asOfBlock: as_of_block, edgesHash: edges_hash, document };
  }
}

/** A score with all its inputs, so that a reader can compute it again. Amounts are digits of atomic USDC. */
function scoreDocument(endpoint_host: string, { rows, edges, rows_free, looks, counts }: ReadInputs) {
  const score = scoreOf({ rows, edges, rows_free });
  const found = new Map(score.rows.map(row => [row.post_id, row]));
  const blocks = looks.flatMap(({ to_block }) => to_block ?? []);
  return {
    schema: documents.endpoint_score,
    endpoint_host,
    rule_version: SCORE_RULE_VERSION,
    status: score.score_bp === null ? ('unscored' as const) : ('scored' as const),
    score_bp: score.score_bp,
    unscored_because: score.unscored_because,
    unscored_reason: score.unscored_because && unscoredSentences[score.unscored_because],
    counts,
    /** The last block of Base that was searched for any payer of these rows. Null if none was searched. */
    as_of_block: blocks.length === 0 ? null : Math.max(...blocks),
    rows_max: scoreLimits.rows_max,
    rows_per_payer_max: scoreLimits.rows_per_payer_max,
    rows_free,
    weights: scoreWeights,
    rows: rows.map(row => {
      const { cluster = null, zero_because = null } = found.get(row.post_id) ?? {};
      return { ...row, cluster, zero_because };
    }),
    clusters: score.clusters.map(({ weight, good, ...cluster }) => ({
      ...cluster,
      weight: String(weight),
      good: String(good),
    })),
    edges: [...edgesInOrder(edges)],
    edges_hash: score.edges_hash,
    looks: [...looks],
    payers_unknown: looks.filter(({ known }) => !known).length,
    cost_to_move: {
      move_bp: scoreWeights.move_bp,
      up: shownCost(score.cost_to_move.up),
      down: shownCost(score.cost_to_move.down),
    },
  } satisfies JsonObject;
}

const unscoredSentences: Readonly<Record<UnscoredReason, string>> = {
  no_reports: 'There is no post about this host on the board.',
  no_accepted_evidence:
    'There are posts about this host on the board, but none rests on evidence that the rule accepts. `zero_because` of each row says why. `counts` says what was reported.',
};

function shownCost(cost: MoveCost | null) {
  return cost && { spent: String(cost.spent), clusters: cost.clusters, stamps: String(cost.stamps) };
}
