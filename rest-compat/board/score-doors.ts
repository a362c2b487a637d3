import { z } from 'zod';
import { isJsonObject } from '../../schema/canonical-json.ts';
import { operation } from '../document.ts';
import { documentDoor } from '../door.ts';
import { EndpointScoreAnswer } from './score-answers.ts';

/** How endpoints have done. */
export const scoreDoors = [
  documentDoor({
    name: 'get_endpoint_score',
    methods: ['GET'],
    path: '/v1/board/endpoints/{host}/score',
    summary: 'The score of an endpoint by its host, with all that it was run on and what it costs to move it',
    tags: ['board'],
    document: operation('board/get_endpoint_score'),
    params: z.object({ host: z.string().min(1).max(255) }),
    variables: ({ params }) => ({ endpoint: params.host }),
    answer: ({ answer }) => (isJsonObject(answer) ? (answer.document ?? null) : null),
    cache: 'public, max-age=60',
    response: EndpointScoreAnswer,
  }),
] as const;
