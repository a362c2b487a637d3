import { EndpointScoreNoun, EndpointScoreViewNoun } from '../../schema/board/score.ts';
import { isJsonObject } from '../../schema/canonical-json.ts';
import { scoreLimits } from '../../schema/limits.ts';
import { EndpointPath } from '../../schema/requests/board.ts';
import { nameComponents } from '../answer-shapes.ts';
import { KEPT_BY_BOARD } from '../board-cache.ts';
import { documentDoor } from '../door.ts';

nameComponents({ EndpointScore: EndpointScoreNoun });

/** Scores of endpoints. */
export const scoreDoors = [
  documentDoor({
    ...KEPT_BY_BOARD,
    name: 'get_endpoint_score',
    methods: ['GET'],
    path: '/v1/board/endpoints/{host}/score',
    limits: [
      `Up to ${scoreLimits.rows_max} posts count in a score, up to ${scoreLimits.rows_per_payer_max} of one payer; those with the most weight come first.`,
    ],
    summary: 'Get the score of an endpoint by its host, with its inputs and the lowest cost of changing it',
    tags: ['board'],
    field: 'endpointScore',
    shows: EndpointScoreViewNoun.pick({ document: true }),
    params: EndpointPath,
    answer: ({ answer }) => (isJsonObject(answer) ? (answer.document ?? null) : null),
    response: EndpointScoreNoun,
  }),
] as const;
