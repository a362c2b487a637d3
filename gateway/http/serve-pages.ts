import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sha256Hex } from '../../schema/digest.ts';
import type { Graph } from '../graph/open-graph.ts';
import { sdlOf } from './sdl.ts';

/* The pages of GET /graphql: the schema as text, and GraphiQL. */

interface Pages {
  readonly graph: Graph;
  readonly graphiql: boolean;
}

/** Serves `GET /graphql?sdl`, and GraphiQL to browsers that send no query. */
export function servePages(scope: FastifyInstance, path: string, { graph, graphiql }: Pages): void {
  let made: { readonly sdl: string; readonly tag: string } | null = null;
  // The schema is printed when it is first requested, because only type generators request it and printing takes as long as
  // parsing.
  const shown = () => {
    made ??= withTag(sdlOf(graph));
    return made;
  };
  scope.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'GET' || request.routeOptions.url !== path) return;
    const params = request.query as Readonly<Record<string, unknown>>;
    if (params.sdl !== undefined) {
      const { sdl, tag } = shown();
      return send(request, reply, tag, 'text/plain; charset=utf-8', sdl);
    }
    if (graphiql && params.query === undefined && isForReading(request))
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

/** Whether the client is a browser: browsers name HTML in Accept. A client that accepts any type gets JSON. */
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

/** Sends a text, or 304 if the client has it (RFC 9110 section 13.1.2; tags are compared weakly). */
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

/** A file of the GraphiQL page. */
interface PageFile {
  readonly media: string;
  readonly text: string;
  readonly gzipped: Buffer;
  /** A strong ETag, so each content coding gets a different one. */
  readonly tag: string;
}

/**
 * Content security policy: the page loads nothing from other hosts and cannot send requests to them. Inline styles are allowed
 * because Monaco sets style attributes.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const GRAPHIQL_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>GraphiQL</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/graphql/graphiql/style.css">
</head>
<body class="no-focus-outline">
<noscript>GraphiQL needs JavaScript.</noscript>
<div id="root"></div>
<script src="/graphql/graphiql/graphiql.js"></script>
<script src="/graphql/graphiql/start.js"></script>
</body>
</html>
`;

/** Starts GraphiQL. Subscriptions use SSE, because sessions are sent in headers and the other protocols send none. */
const START = `self.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_, label) => '/graphql/graphiql/' + label + '.js',
};
YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), {
  endpoint: '/graphql',
  subscriptionsProtocol: 'GRAPHQL_SSE',
  title: 'GraphiQL',
  defaultQuery: '{ models { id } }',
  headers: '{}',
  shouldPersistHeaders: false,
});
`;

/** GraphiQL places the answer and the buttons next to the query. A phone is too narrow for that, so both are placed below it. */
const NARROW_STYLE = `
@media (max-width: 40rem) {
  .graphiql-container #graphiql-session { flex-direction: column; min-height: 0; }
  .graphiql-container #graphiql-session > * { min-height: 0; }
  .graphiql-container .graphiql-horizontal-drag-bar { display: none; }
  .graphiql-container .graphiql-query-editor { flex-direction: column; row-gap: var(--px-8); }
  .graphiql-container .graphiql-query-editor .graphiql-editor { min-height: 0; flex: 1; }
  .graphiql-container .graphiql-query-editor .graphiql-toolbar { flex-direction: row; width: auto; }
}
`;

/** Loaded by the first request. */
let files: Promise<ReadonlyMap<string, PageFile>> | null = null;

/**
 * The files of GraphiQL by name, as built in its package. They have 9 MB, so they are loaded and compressed once, at the first
 * request.
 */
function graphiqlFiles(): Promise<ReadonlyMap<string, PageFile>> {
  files ??= load();
  return files;
}

async function load(): Promise<ReadonlyMap<string, PageFile>> {
  const built = await import('@graphql-yoga/render-graphiql/graphiql');
  const script = 'text/javascript; charset=utf-8';
  const texts = [
    ['graphiql.js', script, built.js],
    ['start.js', script, START],
    ['style.css', 'text/css; charset=utf-8', built.css + NARROW_STYLE],
    // Monaco requests its workers by these names.
    ['editorWorkerService.js', script, built.editorWorkerService],
    ['json.js', script, built.jsonWorker],
    ['graphql.js', script, built.graphqlWorker],
  ] as const;
  const packed = texts.map(async ([name, media, text]) => {
    const file: PageFile = { media, text, gzipped: await zipped(text), tag: sha256Hex(text).slice(0, 32) };
    return [name, file] as const;
  });
  return new Map(await Promise.all(packed));
}

const zipped = promisify<string, Buffer>(gzip);
