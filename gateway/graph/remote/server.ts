import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  parse,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { z } from 'zod';
import { disconnectSignal } from '../../../rest-compat/http/disconnect.ts';
import { doorServerOptions } from '../../../rest-compat/http/server-options.ts';
import { limits } from '../../../schema/limits.ts';
import type { Principal } from '../../../schema/principal.ts';
import type { CallHeaders, Context } from '../../../subgraphs/context.ts';
import { takeKeyOnWrite } from '../../../subgraphs/receipt/written-once/written-once.ts';
import type { Subgraph } from '../../../subgraphs/subgraph.ts';
import type { IncomingFile, Uploads } from '../../../subgraphs/uploads.ts';
import type { Vault } from '../../../subgraphs/vault.ts';
import { textWithin } from '../answer-size.ts';
import { answerWhileHalted } from '../halted-rule.ts';
import { publicError } from '../public-error.ts';
import { InProcessSource, type Operation } from '../source.ts';
import { answerText } from './answer.ts';
import { CALL_HEADER, openRouterKey, type SubgraphCall } from './call.ts';
import type { CallGate, CallRejection } from './call-gate.ts';
import { EVENT_CHARS_MAX, EVENT_STREAM, writeEvents } from './event-stream.ts';

interface SubgraphServerOptions {
  readonly subgraph: Subgraph;
  readonly gate: CallGate;
  readonly files: UploadTaker;
  /** Decrypts what the gateways of this subgraph encrypt. */
  readonly vault: Vault;
  createContext(principal: Principal, brought: CallHeaders): Context;
  /** Pages of the operator by path. */
  readonly pages: Readonly<Record<string, OperatorPage>>;
  readonly logger: Logger;
}

/** A page for the operator. Null if the credential does not permit access. */
export type OperatorPage = (authorization: string | undefined) => Promise<PageText | null>;

export interface PageText {
  readonly status: number;
  readonly media: string;
  readonly text: string;
}

const question = z.object({
  query: z.string(),
  operationName: z.string().nullish(),
  variables: z
    .record(z.string(), z.unknown())
    .nullish()
    .transform(variables => variables ?? {}),
  written: z.record(z.string(), z.array(z.string())).optional(),
});

/** Serves one subgraph on a separate port: `/graphql` and `/uploads` for its gateways only, and the pages of its operator. */
export function openSubgraphServer(options: SubgraphServerOptions): HttpServer {
  const serving = new SubgraphService(options);
  return openHttpServer({
    answer: (request, response) => serving.answer(request, response),
    stop: () => serving.stop(),
  });
}

class SubgraphService {
  readonly #options: SubgraphServerOptions;
  readonly #source: InProcessSource;
  readonly #queries: KnownQueries;
  /** Open subscriptions, which do not end by themselves. */
  readonly #feeds = new Set<ServerResponse>();

  constructor(options: SubgraphServerOptions) {
    this.#options = options;
    this.#source = new InProcessSource(options.subgraph);
    this.#queries = new KnownQueries(options.subgraph.schema);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = request.url?.split('?') ?? [];
    try {
      if (request.method === 'GET') await this.#look(path, request, response);
      else if (request.method === 'POST' && path === '/graphql') await this.#called(request, response);
      else if (request.method === 'POST' && path === '/uploads') await this.#sent(request, response);
      else send(response, 404);
    } catch (fault) {
      if (request.destroyed && !request.complete) return;
      this.#options.logger.error(
        { err: fault },
        'a request of a gateway to this subgraph failed with the error in err; the gateway received status 500 or an incomplete response',
      );
      if (response.headersSent) response.destroy();
      else send(response, 500);
    }
  }

  /** Interrupts subscriptions, so that their readers reconnect elsewhere. A paid stream is finished. */
  stop(): void {
    for (const feed of this.#feeds) feed.destroy();
  }

  async #look(path: string, { headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pages } = this.#options;
    const seen = Object.hasOwn(pages, path) ? await pages[path]?.(headers.authorization) : null;
    if (seen) send(response, seen.status, seen.text, seen.media);
    else send(response, 404);
  }

  async #called(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { gate } = this.#options;
    const call = this.#judged(gate, request, response);
    if (call === null) return;
    const body = await bodyOf(request);
    if (body === null) return send(response, 413);
    const why = gate.take(call, body);
    if (why !== null) return this.#turnAway(response, why);
    await this.#run(call, body, request.headers.accept === EVENT_STREAM, response);
  }

  async #sent(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { files } = this.#options;
    const call = this.#judged(files.gate, request, response);
    if (call === null) return;
    const taken = await takeUpload(files, call, request);
    if (taken.kind === 'turned_away') this.#turnAway(response, taken.why);
    else send(response, sentStatus[taken.kind]);
  }

  #judged(gate: CallGate, { headers }: IncomingMessage, response: ServerResponse): SubgraphCall | null {
    const judged = gate.judge(String(headers[CALL_HEADER] ?? ''));
    if (judged.kind === 'signed') return judged.call;
    this.#turnAway(response, judged.why);
    return null;
  }

  #turnAway(response: ServerResponse, why: string): void {
    this.#options.logger.info({ why }, 'a request to this subgraph was rejected with status 401 for the reason in why');
    send(response, 401);
  }

  async #run(call: SubgraphCall, body: Buffer, in_events: boolean, response: ServerResponse): Promise<void> {
    const { principal, payment } = call;
    const { query: text, ...inputs } = question.parse(JSON.parse(body.toString('utf8')));
    const created = this.#options.createContext(principal, {
      payment,
      router_key: openRouterKey(this.#options.vault, call),
      redelivery: call.redelivery ?? null,
      delegation: call.delegation ?? null,
      note: call.note ?? null,
      idempotency_key: call.idempotency_key ?? null,
      resource: call.resource,
    });
    const { named_write } = call;
    const taking = named_write && { database: takeKeyOnWrite(created.database, named_write), named_write };
    const context = {
      ...created,
      ...taking,
      ...(in_events && { left: disconnectSignal(response, response.destroyed) }),
    };
    const { headers } = context.response;
    const query = this.#queries.read(text);
    const within = (bytes_max: number, result: ExecutionResult, textOf: (result: ExecutionResult) => string) =>
      textWithin(bytes_max, this.#published(result), context, textOf);
    const answered = (result: ExecutionResult) => answerText({ headers, result });
    const tell = (result: ExecutionResult) => send(response, 200, within(ANSWER_BYTES_MAX, result, answered));
    if (query.kind === 'invalid') return tell({ errors: query.errors });

    const operation: Operation = { document: query.document, ...inputs, context };
    if (!in_events)
      return tell(answerWhileHalted(this.#source.schema, operation, await this.#source.execute(operation)));
    const results = await this.#source.subscribe(operation);
    if (!(Symbol.asyncIterator in results)) return tell(results);
    if (payment === null) {
      this.#feeds.add(response);
      response.once('close', () => this.#feeds.delete(response));
    }
    const eventText = (result: ExecutionResult) => within(EVENT_CHARS_MAX, result, shown => JSON.stringify(shown));
    await writeEvents(response, { headers, results, eventText });
  }

  #published({ data, errors }: ExecutionResult): ExecutionResult {
    if (!errors) return { data: data ?? null };
    return { data: data ?? null, errors: errors.map(error => publicError(error, this.#options.logger)) };
  }
}

const sentStatus: Readonly<Record<Exclude<TakenUpload['kind'], 'turned_away'>, number>> = {
  taken: 204,
  too_large: 413,
  no_room: 503,
};

/** Longest response. A gateway disconnects at a longer one, and the response of a paid call would be lost. */
const ANSWER_BYTES_MAX = limits.subgraph_answer_bytes_max;

/** Reads the body of a request. Null if it is too long; the rest is not kept then. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limits.subgraph_request_bytes_max) return null;
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

function send(response: ServerResponse, status: number, text = '', media = 'application/json'): void {
  const typed = text === '' ? {} : { 'content-type': media };
  const headers = { ...typed, 'content-length': Buffer.byteLength(text), 'cache-control': 'no-store' };
  response.writeHead(status, headers).end(text);
}

const KEPT_MAX = 2_000;
const KEPT_CHARS_MAX = 64 * 1024;

type Query =
  | { readonly kind: 'valid'; readonly document: DocumentNode }
  | { readonly kind: 'invalid'; readonly errors: readonly GraphQLError[] };

/**
 * Caches documents by their text, because a gateway plans each document once and always sends the same text. They are validated, because
 * fields that exist only in another version would otherwise be omitted silently.
 */
class KnownQueries {
  readonly #schema: GraphQLSchema;
  readonly #known = new LRUCache<string, Query>({ max: KEPT_MAX });

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** Parses and validates a text, or returns its cached result. @throws GraphQLError if the text is not GraphQL */
  read(text: string): Query {
    const known = this.#known.get(text);
    if (known) return known;
    const document = parse(text, { noLocation: true });
    const errors = validate(this.#schema, document);
    const query: Query = errors.length > 0 ? { kind: 'invalid', errors } : { kind: 'valid', document };
    if (text.length <= KEPT_CHARS_MAX) this.#known.set(text, query);
    return query;
  }
}

interface HttpServer {
  /** Starts to accept connections. Port 0 means any free port. */
  listen(host: string, port: number): Promise<void>;
  /** Stops accepting connections and finishes the requests in progress. */
  close(): Promise<void>;
}

/** Time for which an idle connection is kept. It must be longer than a gateway keeps one. */
const KEEP_ALIVE_MS = 60_000;

interface HttpHandler {
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends streams that would not end by themselves. */
  stop(): void;
}

/** Opens Node's own HTTP server with the limits of the public endpoints. It is enough between processes of this service. */
function openHttpServer({ answer, stop }: HttpHandler): HttpServer {
  const { http, requestTimeout, clientErrorHandler } = doorServerOptions;
  const unused = new Set<Socket>();
  let closing = false;
  const server = createServer({ ...http, requestTimeout, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    unused.delete(request.socket);
    if (closing) response.setHeader('connection', 'close');
    response.once('close', () => closing && setImmediate(() => server.closeIdleConnections()));
    void answer(request, response);
  });
  server.on('clientError', clientErrorHandler);
  // Node counts a connection without any request as busy, and a closing server would wait for it for ever.
  server.on('connection', socket => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject).listen(port, host, () => resolve());
      }),
    async close() {
      closing = true;
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      stop();
      for (const socket of unused) socket.destroy();
      await closed;
    },
  };
}

/** The parts that receive files, each in a call that is signed for this purpose only. */
interface UploadTaker {
  readonly gate: CallGate;
  readonly uploads: Uploads;
}

type TakenUpload =
  /** The file was received. The query that names the call's nonce uses it. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'too_large' }
  /** The files that are held leave no memory for this one. */
  | { readonly kind: 'no_room' }
  | { readonly kind: 'turned_away'; readonly why: CallRejection };

/** Receives the file of a call whose header was accepted. The file is read within limits and compared with the signed digest. */
async function takeUpload(
  { gate, uploads }: UploadTaker,
  call: SubgraphCall,
  request: IncomingMessage,
): Promise<TakenUpload> {
  const file = uploads.begin(call.nonce);
  let delivered = false;
  try {
    const taken = await readInto(file, request);
    if (taken.kind !== 'taken') return taken;
    const why = gate.takeHashed(call, file.complete().sha256);
    if (why !== null) return { kind: 'turned_away', why };
    await file.deliver();
    delivered = true;
    return taken;
  } finally {
    if (!delivered) file.release();
  }
}

async function readInto(file: IncomingFile, request: IncomingMessage): Promise<TakenUpload> {
  for await (const piece of request as AsyncIterable<Buffer>) {
    if (file.length + piece.length > limits.upload_file_bytes_max) return { kind: 'too_large' };
    if (!file.take(piece)) return { kind: 'no_room' };
  }
  return { kind: 'taken' };
}
