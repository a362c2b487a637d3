import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sha256Hex } from '../../schema/digest.ts';

/** One file of the page, as it goes out. */
export interface PageFile {
  readonly media: string;
  readonly text: string;
  readonly gzipped: Buffer;
  /** Strong: of each coding another. */
  readonly tag: string;
}

/** Nothing of it comes from another host, and nothing it does reaches one. Monaco sets styles at the elements. */
export const PAGE_POLICY = [
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

export const GRAPHIQL_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>GraphiQL</title>
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

/** What the session is shown by stands in the headers, and subscriptions bring headers along by SSE alone. */
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

/** Loaded once. */
let files: Promise<ReadonlyMap<string, PageFile>> | null = null;

/**
 * The files of GraphiQL by name, as its package brings them ready built: 9 MB, which are loaded and packed once, and only
 * where somebody opens the page.
 */
export function graphiqlFiles(): Promise<ReadonlyMap<string, PageFile>> {
  files ??= load();
  return files;
}

async function load(): Promise<ReadonlyMap<string, PageFile>> {
  const built = await import('@graphql-yoga/render-graphiql/graphiql');
  const script = 'text/javascript; charset=utf-8';
  const texts = [
    ['graphiql.js', script, built.js],
    ['start.js', script, START],
    ['style.css', 'text/css; charset=utf-8', built.css],
    // By the names under which Monaco asks for its workers.
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
