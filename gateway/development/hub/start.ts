import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, json } from 'node:stream/consumers';
import type { CompleteConfig, Config, HubConfig } from '../../config/read-config.ts';
import { answerTo, chatRequest, type HubAnswer, type HubChat, hubChunks, hubCompletion } from './answer.ts';
import { answerByHabit, habitModels } from './habits.ts';
import { type MediaAnswer, mediaAnswers, pictureAt } from './media.ts';

/**
 * A model whose response contains the request body, so that developers can see the data that reaches a hub. API keys are in a
 * header, so they are not shown.
 */
const ECHO_MODEL = 'dev/echo';

/** A response whose text is the request body, in pieces. */
function echoRequest(answer: HubAnswer, body: unknown): HubAnswer {
  const words = JSON.stringify(body).split(/(?<=[,:])/);
  const { prompt_tokens } = answer.usage;
  const usage = { prompt_tokens, completion_tokens: words.length, total_tokens: prompt_tokens + words.length };
  return { ...answer, call: null, words, finish_reason: 'stop', usage };
}

interface DevelopmentHubOptions {
  readonly name: string;
  readonly models: readonly string[];
  readonly image_models?: readonly string[];
  readonly audio_models?: readonly string[];
  readonly embedding_models?: readonly string[];
  /** API key; null if any key is accepted, as by a router, which also lists models without a key. */
  readonly api_key: string | null;
}

export interface DevelopmentHub {
  /** URL that ends in `/v1`, as OpenAI clients expect. */
  readonly base_url: string;
  close(): Promise<void>;
}

/** Starts a stand-in for a hub in this process. It serves OpenAI's chat API over HTTP. */
export async function startDevelopmentHub(options: DevelopmentHubOptions): Promise<DevelopmentHub> {
  const hub = { ...options, generations: new Generations(), seen: new Set<string>() };
  const server = createServer((request, response) => {
    serve(hub, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  return {
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => closeServer(server),
  };
}

/** Parts of a hub's server. A router also shows each key its generations. */
type HubServerParts = DevelopmentHubOptions & {
  readonly generations: Generations;
  /** Requests of models that respond unusually only once. */
  readonly seen: Set<string>;
};

async function serve(hub: HubServerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const door = `${request.method} ${request.url}`;
  const picture = request.method === 'GET' ? pictureAt(request.url ?? '') : null;
  if (picture) return void response.writeHead(200, { 'content-type': 'image/png' }).end(picture);
  if (!mayEnter(hub, door, request.headers.authorization)) {
    return refuse(response, 401, 'invalid_api_key', 'Incorrect API key provided.');
  }
  if (door === 'GET /v1/models') return sendJson(response, 200, modelList(hub));
  const { authorization = '' } = request.headers;
  const asked_for = hub.api_key === null && request.method === 'GET' ? generationAt(request.url ?? '') : null;
  if (asked_for !== null) {
    const generation = hub.generations.of(authorization, asked_for);
    if (generation) return sendJson(response, 200, { data: generation });
    return refuse(response, 404, 'not_found', `Generation ${asked_for} not found`);
  }
  const answerMedia = request.method === 'POST' ? mediaAnswers[request.url ?? ''] : undefined;
  if (answerMedia) return serveMedia(hub, answerMedia, request, response);
  if (door !== 'POST /v1/chat/completions') return refuse(response, 404, 'not_found', `Unknown request URL: ${door}`);
  const body: unknown = await json(request).catch(() => null);
  const parsed = chatRequest.safeParse(body);
  if (!parsed.success) return refuse(response, 400, 'invalid_request', parsed.error.message);
  if (!hub.models.includes(parsed.data.model)) {
    return refuse(response, 404, 'model_not_found', `The model ${parsed.data.model} does not exist.`);
  }
  if (answerByHabit(parsed.data, response, hub.seen)) return;
  const plain = answerTo(hub.name, parsed.data);
  const answer = parsed.data.model === ECHO_MODEL ? echoRequest(plain, body) : plain;
  hub.generations.keep(authorization, parsed.data, answer);
  if (parsed.data.stream) return sendStream(response, parsed.data, answer);
  sendJson(response, 200, hubCompletion(parsed.data, answer, unixSeconds()));
}

async function serveMedia(
  { name: hub, image_models = [], audio_models = [], embedding_models = [] }: DevelopmentHubOptions,
  answer: (typeof mediaAnswers)[string],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { host, 'content-type': content_type = '' } = request.headers;
  const bytes = await buffer(request);
  const asked = { hub, content_type, bytes, created: unixSeconds(), base_url: `http://${host}/v1` };
  let answered: MediaAnswer;
  try {
    answered = await answer(asked);
  } catch (fault) {
    return refuse(response, 400, 'invalid_request', String(fault));
  }
  const { model, body } = answered;
  if ([...image_models, ...audio_models, ...embedding_models].includes(model)) return sendJson(response, 200, body);
  refuse(response, 404, 'model_not_found', `The model ${model} does not exist.`);
}

function mayEnter({ api_key }: DevelopmentHubOptions, door: string, authorization: string | undefined): boolean {
  if (api_key !== null) return authorization === `Bearer ${api_key}`;
  return door === 'GET /v1/models' || /^Bearer \S+$/.test(authorization ?? '');
}

function sendStream(response: ServerResponse, request: HubChat, answer: HubAnswer): void {
  const { first, words, last } = hubChunks(request, answer, unixSeconds());
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  for (const chunk of [first, ...words, ...last]) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  response.end('data: [DONE]\n\n');
}

function modelList(hub: DevelopmentHubOptions): object {
  const { models, image_models = [], audio_models = [], embedding_models = [] } = hub;
  const ids = [...models, ...image_models, ...audio_models, ...embedding_models];
  const data = ids.map(id => ({ id, object: 'model', created: 1_700_000_000, owned_by: hub.name }));
  return { object: 'list', data };
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  sendJson(response, status, { error: { message, type: 'invalid_request_error', param: null, code } });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function closeServer(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function unixSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

const habits = [ECHO_MODEL, ...habitModels];
/**
 * Settings of the hubs. Both serve `dev/small`, so that developers can see failover from one hub to the other, also after a
 * refusal.
 */
const hubs = [
  { name: 'alpha', models: ['dev/small', 'dev/alpha-large', ...habits] },
  { name: 'beta', models: ['dev/small', 'dev/beta-large', ...habits] },
] as const;

const draws = {
  image_models: ['dev/image'],
  audio_models: ['dev/transcribe'],
  embedding_models: ['dev/embedding'],
};
/** Models of the router, under its own ids. Callers add `router/`. */
const routed = { models: ['dev/routed'] };

export function startHubs(started: AsyncDisposableStack): Promise<HubConfig[]> {
  const api_key = `dev-${randomBytes(12).toString('hex')}`;
  return Promise.all(
    hubs.map(async ({ name, models }) => {
      const able = [...models];
      const abilities = {
        ...{ vision_models: able, audio_input_models: able, file_input_models: able },
        reasoning_models: [],
      };
      const settings = { name, api_key, models: [...models], ...draws, ...abilities };
      const { base_url, close } = await startDevelopmentHub(settings);
      started.defer(close);
      return { ...settings, base_url };
    }),
  );
}

/** The configured router, or a stand-in that accepts any key, or null if no router is used. */
export async function routerOf(complete: CompleteConfig, started: AsyncDisposableStack): Promise<Config['router']> {
  const { router_url, router_models: models, stand_ins } = complete;
  if (router_url !== null) return { base_url: router_url, models };
  if (!stand_ins.includes('ROUTER_URL')) return null;
  const { base_url, close } = await startDevelopmentHub({ name: 'router', api_key: null, ...routed });
  started.defer(close);
  return { base_url, models };
}

/** A generation as OpenRouter shows it at `GET /generation?id=`. Dollars are JSON numbers in it. */
interface Generation {
  readonly id: string;
  readonly model: string;
  readonly streamed: boolean;
  /** Time in ISO 8601. */
  readonly created_at: string;
  readonly total_cost: number;
  readonly usage: number;
  readonly tokens_prompt: number;
  readonly tokens_completion: number;
  readonly provider_name: string;
}

const KEPT_MAX = 1_000;
const DOLLARS_PER_TOKEN = 0.000_001_5;

/** The newest responses of a development router. Each is shown only to the key that paid for it. */
class Generations {
  readonly #kept = new Map<string, { readonly authorization: string; readonly generation: Generation }>();

  keep(authorization: string, { model, stream }: HubChat, { id, usage }: HubAnswer): void {
    const cost = usage.total_tokens * DOLLARS_PER_TOKEN;
    const generation = {
      id,
      model,
      streamed: stream,
      created_at: new Date().toISOString(),
      total_cost: cost,
      usage: cost,
      tokens_prompt: usage.prompt_tokens,
      tokens_completion: usage.completion_tokens,
      provider_name: 'development',
    };
    this.#kept.delete(id);
    this.#kept.set(id, { authorization, generation });
    if (this.#kept.size > KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value ?? id);
  }

  of(authorization: string, id: string): Generation | null {
    const kept = this.#kept.get(id);
    return kept?.authorization === authorization ? kept.generation : null;
  }
}

/** The requested id; null for another path. */
function generationAt(path: string): string | null {
  const { pathname, searchParams } = new URL(path, 'http://router');
  return pathname === '/v1/generation' ? searchParams.get('id') : null;
}
