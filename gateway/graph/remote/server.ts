import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Logger } from 'pino';
import { z } from 'zod';
import { onceLeft } from '../../../rest-compat/http/left.ts';
import { limits } from '../../../schema/limits.ts';
import type { Principal } from '../../../schema/principal.ts';
import type { Brought, Context } from '../../../subgraphs/context.ts';
import { takingKey } from '../../../subgraphs/receipt/written-once/written-once.ts';
import type { Subgraph } from '../../../subgraphs/subgraph.ts';
import type { Vault } from '../../../subgraphs/vault.ts';
import { toldWhileHalted } from '../halted-rule.ts';
import { publicError } from '../public-error.ts';
import { InProcessSource, type Operation } from '../source.ts';
import { answerText } from './answer.ts';
import { CALL_HEADER, type SubgraphCall } from './call.ts';
import type { CallGate } from './call-gate.ts';
import { EVENT_STREAM } from './event-stream.ts';
import { type HttpServer, openHttpServer } from './http-server.ts';
import { KnownQueries } from './known-queries.ts';
import { openRouterKey } from './router-key.ts';
import { type TakenUpload, takeUpload, type UploadTaker } from './take-upload.ts';
import { writeEvents } from './write-events.ts';

export interface SubgraphServerOptions {
  readonly subgraph: Subgraph;
  readonly gate: CallGate;
  readonly files: UploadTaker;
  /** Opens what its gateways seal. */
  readonly vault: Vault;
  createContext(principal: Principal, brought: Brought): Context;
  /** What its operator may look at, by path. */
  readonly pages: Readonly<Record<string, OperatorPage>>;
  readonly logger: Logger;
}

/** Null for whoever may not look there. */
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

/** One subgraph on a port of its own: `/graphql` for its gateway and nobody else, the rest for its operator. */
export function openSubgraphServer(options: SubgraphServerOptions): HttpServer {
  const serving = new Serving(options);
  return openHttpServer({
    answer: (request, response) => serving.answer(request, response),
    stop: () => serving.stop(),
  });
}

class Serving {
  readonly #options: SubgraphServerOptions;
  readonly #source: InProcessSource;
  readonly #queries: KnownQueries;
  /** Feeds, which have no end of their own. */
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
      this.#options.logger.error({ err: fault }, 'a call of the gateway failed');
      if (response.headersSent) response.destroy();
      else send(response, 500);
    }
  }

  /** Feeds are cut off, for their readers to go on elsewhere; a paid stream has an end, and is brought to it. */
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
    this.#options.logger.info({ why }, 'a call was turned away');
    send(response, 401);
  }

  async #run(call: SubgraphCall, body: Buffer, in_events: boolean, response: ServerResponse): Promise<void> {
    const { principal, payment } = call;
    const { query: text, ...asked } = question.parse(JSON.parse(body.toString('utf8')));
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
    const taking = named_write && { database: takingKey(created.database, named_write), named_write };
    const context = { ...created, ...taking, ...(in_events && { left: onceLeft(response, response.destroyed) }) };
    const { headers } = context.response;
    const query = this.#queries.read(text);
    const tell = (result: ExecutionResult) =>
      send(response, 200, answerText({ headers, result: this.#published(result) }));
    if (query.kind === 'invalid') return tell({ errors: query.errors });

    const operation: Operation = { document: query.document, ...asked, context };
    if (!in_events) return tell(toldWhileHalted(this.#source.schema, operation, await this.#source.execute(operation)));
    const results = await this.#source.subscribe(operation);
    if (!(Symbol.asyncIterator in results)) return tell(results);
    if (payment === null) {
      this.#feeds.add(response);
      response.once('close', () => this.#feeds.delete(response));
    }
    await writeEvents(response, { headers, results, published: result => this.#published(result) });
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

/** Null where it is too long: then the rest of it is not kept. */
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
