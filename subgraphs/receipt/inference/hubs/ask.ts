import { type Dispatcher, Pool } from 'undici';
import type { z } from 'zod';
import { limits } from '../../../../schema/limits.ts';
import type { Secret } from '../../../../schema/secret.ts';
import { type Candidate, type HubSettings, type Modality, ROUTER, wireModel } from '../catalogue.ts';

/** A hub is not trusted: its answer is parsed, checked and copied member by member. Null where it is something else. */
export function readJsonAs<S extends z.ZodType>(schema: S, bytes: Uint8Array): z.output<S> | null {
  const value = parsed(bytes);
  return value === NOT_JSON ? null : (schema.safeParse(value).data ?? null);
}

function isJson(bytes: Uint8Array): boolean {
  return parsed(bytes) !== NOT_JSON;
}

const NOT_JSON = Symbol('not JSON');

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return NOT_JSON;
  }
}

/** What a hub is asked in one piece, whichever model of it answers. Built once for every hub that is asked in turn. */
export interface Question<T extends object> {
  readonly modality: Modality;
  /** Under the hub's base URL. */
  readonly path: `/${string}`;
  /** Where an answer may be larger than others. */
  readonly answer_bytes_max?: number;
  /** Built from known members only: nothing of the caller's may slip through. `reasons`: it takes `reasoning_effort`. */
  body(model: string, reasons: boolean): QuestionBody;
  /** What of the answer is passed on, checked and copied member by member; null where it is not what was asked for. */
  read(answer: Buffer): T | null;
}

export interface QuestionBody {
  readonly content_type: string;
  readonly bytes: string | Buffer;
}

type ReachedHub = Pick<HubSettings, 'base_url' | 'reasoning_models'> & { readonly api_key: string | null };

/** How one hub is reached: its sockets, which all callers share, and what every request to it says. */
export class HubConnection {
  readonly pool: Pool;
  readonly #path: string;
  /** Null for the router, which is asked by its callers' own keys. */
  readonly #api_key: string | null;
  readonly #reasoning_models: readonly string[];

  constructor({ base_url, api_key, reasoning_models = [] }: ReachedHub) {
    const { origin, pathname } = new URL(base_url);
    this.pool = new Pool(origin, {
      connections: limits.hub_connections_max,
      connect: { timeout: limits.hub_connect_ms_max },
    });
    this.#path = pathname.replace(/\/$/, '');
    this.#api_key = api_key;
    this.#reasoning_models = reasoning_models;
  }

  /** So many wait for a socket that whoever comes next is better served elsewhere. */
  get busy(): boolean {
    return this.pool.stats.queued >= limits.hub_waiting_max;
  }

  get waiting(): number {
    return this.pool.stats.queued;
  }

  /** How many times over its sockets are taken by those who wait for one. */
  get crowding(): number {
    return this.waiting / limits.hub_connections_max;
  }

  /** Whether a model can be told how hard to think. The router is taken at its callers' word. */
  reasons(model: string): boolean {
    return this.#api_key === null || this.#reasoning_models.includes(model);
  }

  path(path: string): string {
    return this.#path + path;
  }

  /** All the headers that a hub sees beside those of HTTP itself: none of them is a caller's, but for the router's key. */
  headers(content_type: string, accept: string, router_key: Secret | undefined): Record<string, string> {
    const key = this.#api_key ?? router_key?.reveal();
    if (key === undefined) throw new Error('a router is asked with the key of whoever asks');
    return { accept, 'content-type': content_type, authorization: `Bearer ${key}` };
  }
}

/** By name; the router among them, where there is one. */
export function openConnections(
  settings: readonly HubSettings[],
  router: { readonly base_url: string } | null,
): ReadonlyMap<string, HubConnection> {
  const hubs = settings.map(hub => [hub.name, new HubConnection(hub)] as const);
  return new Map(router ? [...hubs, [ROUTER, new HubConnection({ ...router, api_key: null })]] : hubs);
}

export interface HubTarget {
  readonly connection: HubConnection;
  readonly model: string;
  /** It takes `reasoning_effort`. */
  readonly reasons: boolean;
}

/** The line to a candidate, and the model by the name that it has there. */
export function targetOf(lines: ReadonlyMap<string, HubConnection>, candidate: Candidate): HubTarget {
  const line = lines.get(candidate.hub);
  if (!line) throw new Error(`no hub is named ${candidate.hub}`);
  return { connection: line, model: wireModel(candidate), reasons: line.reasons(candidate.model) };
}

/** An answer that is something else than what was asked for. */
const notAsked = {
  text: 'not_a_completion',
  image: 'not_an_image',
  audio: 'not_a_transcript',
} as const satisfies Record<Modality, string>;

export type HubFailure =
  | 'timeout'
  /** Too many wait for it already: it was not asked. */
  | 'busy'
  | 'unreachable'
  | 'cut_off'
  | 'too_large'
  | 'not_json'
  | (typeof notAsked)[Modality]
  | 'not_a_chunk'
  | 'cancelled'
  | `status_${number}`;

export type AskOutcome<T> =
  | { readonly kind: 'answered'; readonly value: T }
  | { readonly kind: 'failed'; readonly reason: HubFailure };

/** One POST, bounded: the whole of it in time, what is read of the answer in bytes. */
export interface Post {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly timeout_ms: number;
  /** Hung up on as soon as that is aborted. */
  readonly canceled?: AbortSignal | undefined;
  readonly answer_bytes_max: number;
}

/** Asks one hub once. Never throws: every way to fail has a name, and the next hub may be asked. */
export async function askHub<T extends object>(
  pool: Pool,
  post: Post,
  { modality, read }: Pick<Question<T>, 'modality' | 'read'>,
): Promise<AskOutcome<T>> {
  const { path, headers, body, canceled } = post;
  const late = AbortSignal.timeout(post.timeout_ms);
  const signal = canceled ? AbortSignal.any([late, canceled]) : late;
  const ended = (otherwise: HubFailure) =>
    failed(canceled?.aborted ? 'cancelled' : late.aborted ? 'timeout' : otherwise);
  let response: Dispatcher.ResponseData;
  try {
    response = await pool.request({ method: 'POST', path, headers, body, signal });
  } catch {
    return ended('unreachable');
  }
  // A stream that is destroyed unread says so by an error event, which would end the process.
  response.body.on('error', () => {});
  if (response.statusCode !== 200) {
    response.body.destroy();
    return failed(`status_${response.statusCode}`);
  }
  let bytes: Buffer | null;
  try {
    bytes = await readBounded(response.body, post.answer_bytes_max);
  } catch {
    return ended('cut_off');
  }
  if (bytes === null) return failed('too_large');
  const value = read(bytes);
  if (value === null) return failed(isJson(bytes) ? notAsked[modality] : 'not_json');
  return { kind: 'answered', value };
}

function failed(reason: HubFailure): { readonly kind: 'failed'; readonly reason: HubFailure } {
  return { kind: 'failed', reason };
}

/** The whole body, or null as soon as it is more than that; leaving the loop destroys the stream. */
export async function readBounded(body: AsyncIterable<Uint8Array>, bytes_max: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > bytes_max) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
