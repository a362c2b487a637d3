import compress from '@fastify/compress';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { OperationTypeNode } from 'graphql';
import { codings } from '../../rest-compat/http/coding.ts';
import { limits } from '../../schema/limits.ts';
import type { Graph } from '../graph/open-graph.ts';
import { kindAsked } from './graphql-request.ts';

/**
 * gzip or br for those who take it, but where a route says `compress: false` or a request `x-no-compression`. Bodies of
 * requests stay as they are: a small one that becomes a large one would pass every bound, so a coding is 415.
 */
export async function compressAnswers(app: FastifyInstance): Promise<void> {
  const threshold = limits.compressed_answer_bytes_min;
  await app.register(compress, { encodings: [...codings], threshold, globalDecompression: false });
}

/** By what a caller is known, or pays. */
const showing = /^(?:x-svc-.*|authorization|cookie|x-api-key|x-router-key|x-payment|payment-signature)$/;

/**
 * On /graphql only what anybody may ask for is compressed: queries of nobody in particular. With a secret in the answer and
 * text of somebody else's beside it, the length would tell the secret letter by letter (BREACH); a book's rows hold what
 * others wrote, and a mutation may answer with a session. Nothing by which a caller is known, nothing that is theirs alone.
 */
export function leaveSecretsAlone(request: FastifyRequest, graph: Pick<Graph, 'parse'>): void {
  const anonymous = !Object.keys(request.headers).some(name => showing.test(name));
  if (!anonymous || kindAsked(request, graph) !== OperationTypeNode.QUERY)
    request.headers['x-no-compression'] = 'a secret';
}
