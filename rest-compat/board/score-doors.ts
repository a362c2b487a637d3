import { z } from 'zod';
import { hostNamed } from '../../schema/board/endpoint.ts';
import { isJsonObject } from '../../schema/canonical-json.ts';
import { scoreLimits } from '../../schema/limits.ts';
import { documentDoor } from '../door.ts';
import { KEPT_BY_BOARD } from '../kept-by-board.ts';
import { EndpointScoreAnswer } from './score-answers.ts';

/** How endpoints have done. */
export const scoreDoors = [
  documentDoor({
    ...KEPT_BY_BOARD,
    name: 'get_endpoint_score',
    methods: ['GET'],
    path: '/v1/board/endpoints/{host}/score',
    limits: [
      `Up to ${scoreLimits.rows_max} reports count in a score, up to ${scoreLimits.rows_per_payer_max} of one payer; those with the most weight come first.`,
    ],
    summary: 'The score of an endpoint by its host, with all that it was run on and what it costs to move it',
    tags: ['board'],
    field: 'endpointScore',
    shows: z.object({ document: EndpointScoreAnswer }),
    params: z.object({ host: z.string().min(1).max(255) }),
    // As it is spelt in one way, so that a host's score is kept once, however it is asked for.
    variables: ({ params }) => ({ endpoint: hostNamed(params.host) ?? params.host }),
    answer: ({ answer }) => (isJsonObject(answer) ? (answer.document ?? null) : null),
    response: EndpointScoreAnswer,
  }),
] as const;
