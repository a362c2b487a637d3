import compress from '@fastify/compress';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { OperationTypeNode } from 'graphql';
import { codings } from '../../rest-compat/http/coding.ts';
import { limits } from '../../schema/limits.ts';
import type { Graph } from '../graph/open-graph.ts';
import { requestedKind } from './graphql-request.ts';

/**
 * Compresses responses by gzip or br for clients that accept them, unless a route has `compress: false` or a request
 * `x-no-compression`. Compressed request bodies are refused with 415, because a small body that expands would bypass every limit.
 */
export async function compressAnswers(app: FastifyInstance): Promise<void> {
  const threshold = limits.compressed_answer_bytes_min;
  await app.register(compress, { encodings: [...codings], threshold, globalDecompression: false });
}

/** Names of headers that identify a caller, or pay. */
const showing = /^(?:x-svc-.*|authorization|cookie|x-api-key|x-router-key|x-payment|payment-signature)$/;

/**
 * On /graphql only queries without credentials are compressed. If a compressed response contains a secret and text by others, its
 * length reveals the secret letter by letter (BREACH). A book's rows contain text by others, and a mutation may return a session.
 */
export function leaveSecretsAlone(request: FastifyRequest, graph: Pick<Graph, 'parse'>): void {
  const anonymous = !Object.keys(request.headers).some(name => showing.test(name));
  if (!anonymous || requestedKind(request, graph) !== OperationTypeNode.QUERY)
    request.headers['x-no-compression'] = 'a secret';
}
