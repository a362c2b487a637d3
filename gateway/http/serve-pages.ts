import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sha256Hex } from '../../schema/digest.ts';
import type { Graph } from '../graph/open-graph.ts';
import { GRAPHIQL_PAGE, graphiqlFiles, PAGE_POLICY } from './graphiql.ts';
import { sdlOf } from './sdl.ts';

/* What GET /graphql shows beside answers: the schema as text, and GraphiQL. */

export interface Pages {
  readonly graph: Graph;
  readonly graphiql: boolean;
}

/** `GET /graphql?sdl`, and a browser that asks for no query. */
export function servePages(scope: FastifyInstance, path: string, { graph, graphiql }: Pages): void {
  let made: { readonly sdl: string; readonly tag: string } | null = null;
  // Nobody but a generator of types asks for it, and printing it takes as long as reading it did.
  const shown = () => {
    made ??= withTag(sdlOf(graph));
    return made;
  };
  scope.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'GET' || request.routeOptions.url !== path) return;
    const asked = request.query as Readonly<Record<string, unknown>>;
    if (asked.sdl !== undefined) {
      const { sdl, tag } = shown();
      return send(request, reply, tag, 'text/plain; charset=utf-8', sdl);
    }
    if (graphiql && asked.query === undefined && isForReading(request))
      return reply
        .headers({
          ...unsniffed,
          'content-security-policy': PAGE_POLICY,
          'referrer-policy': 'no-referrer',
          vary: 'accept',
        })
        .type('text/html; charset=utf-8')
        .send(GRAPHIQL_PAGE);
  });
  if (graphiql) serveGraphiql(scope, `${path}/graphiql/:name`);
}

const unsniffed = { 'x-content-type-options': 'nosniff' };

/** Browsers name HTML; whoever takes anything wants an answer. */
function isForReading({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false;
}

function serveGraphiql(scope: FastifyInstance, path: string): void {
  scope.get<{ Params: { name: string } }>(path, { compress: false }, async (request, reply) => {
    const file = (await graphiqlFiles()).get(request.params.name);
    if (!file) return reply.code(404).send();
    const packed = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
    reply.header('vary', 'accept-encoding').headers(packed ? { 'content-encoding': 'gzip' } : {});
    return send(
      request,
      reply,
      packed ? `"${file.tag}-gz"` : `"${file.tag}"`,
      file.media,
      packed ? file.gzipped : file.text,
    );
  });
}

function withTag(sdl: string) {
  return { sdl, tag: tagOf(sdl) };
}

function tagOf(text: string): string {
  return `W/"${sha256Hex(text).slice(0, 32)}"`;
}

/** RFC 9110 13.1.2, compared weakly: 304 for whoever has it still. */
function send(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  tag: string,
  media: string,
  body: string | Buffer,
): FastifyReply {
  const bare = (name: string) => name.trim().replace(/^W\//, '');
  const shown = headers['if-none-match']?.split(',').map(bare) ?? [];
  reply.headers({ ...unsniffed, etag: tag, 'cache-control': 'no-cache' });
  if (shown.includes(bare(tag)) || shown.includes('*')) return reply.removeHeader('content-encoding').code(304).send();
  return reply.type(media).send(body);
}
