import { LRUCache } from 'lru-cache';
import { type Dispatcher, Pool } from 'undici';
import type { z } from 'zod';
import { isJsonObject } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import type { Secret } from '../../../../schema/secret.ts';
import {
  type Candidate,
  type Dialect,
  type HubSettings,
  type Modality,
  ROUTER,
  type TokenLimitMember,
  wireModel,
} from '../catalogue.ts';
import { type AnthropicRequest, anthropicVersion, type HubBlock } from './anthropic.ts';
import { type AnswerTooLarge, type HubRefusal, hostsOf, type RevealRules, secretsOf } from './verdict.ts';

/** Reads an answer by its schema. Hubs are not trusted, so the answer is checked and copied member by member. Null if it does not match. */
export function readJsonAs<S extends z.ZodType>(schema: S, bytes: Uint8Array): z.output<S> | null {
  const value = parseOnce(bytes);
  return value === NOT_JSON ? null : (schema.safeParse(value).data ?? null);
}

function isJson(bytes: Uint8Array): boolean {
  return parseOnce(bytes) !== NOT_JSON;
}

const NOT_JSON = Symbol('not JSON');

/** Values of parsed answers, by their bytes. Several functions read the same answer, which is parsed only once. */
const parses = new WeakMap<Uint8Array, { readonly value: unknown }>();

function parseOnce(bytes: Uint8Array): unknown {
  const known = parses.get(bytes) ?? { value: parse(bytes) };
  parses.set(bytes, known);
  return known.value;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return NOT_JSON;
  }
}

/** Value of the member `model` of an answer, which may be of any type: the model that the hub names. */
function modelNamedIn(bytes: Uint8Array): unknown {
  const value = parseOnce(bytes);
  return isJsonObject(value) ? value.model : null;
}

/** A request for one whole answer. It is built once for all hubs that are tried. */
export interface Question<T extends object> {
  readonly modality: Modality;
  /** Path under the hub's base URL. */
  readonly path: `/${string}`;
  /** Maximum size of the answer in bytes. Absent: the maximum for most answers. */
  readonly answer_bytes_max?: number;
  /** Error if the answer exceeds that size. Absent: the hub counts as failed. */
  readonly too_large?: AnswerTooLarge;
  /** Whether the request limits the tokens of its answer. Not every model accepts the same name for that limit. */
  readonly limits_tokens?: boolean;
  /** Names of the members of the body that this service adds. */
  readonly added: readonly string[];
  /** Body for a hub of OpenAI's dialect. It has nothing that identifies the caller. */
  body(asked: CalledModel): QuestionBody;
  /** Request for hubs of Anthropic's dialect, as the caller wrote it. Absent if no such hub can answer it. */
  readonly in_anthropic?: AnthropicRequest;
  /**
   * The part of the answer that is passed on, checked and copied member by member. Null if the answer does not match the request. `blocks`:
   * the blocks of the answer, if the hub is of Anthropic's dialect.
   */
  read(answer: Buffer, blocks?: readonly HubBlock[] | null): T | null;
  /**
   * The answer without details of the hub beside its content. Null if it is no answer without these parts. Absent if an answer has only
   * content.
   */
  discreet?(value: T, tells: RevealRules): T | null;
}

export interface QuestionBody {
  readonly content_type: string;
  readonly bytes: string | Buffer;
}

type ReachedHub = Pick<HubSettings, 'base_url' | 'dialect' | 'reasoning_models' | 'token_limit_members'> & {
  readonly api_key: string | null;
};

const LEARNED_MAX = 1_000;

/** Connection to one hub: the sockets that all callers share, and the headers and member names of every request to it. */
export class HubConnection {
  readonly pool: Pool;
  readonly #path: string;
  /** Null for the router, which is called with the callers' own keys. */
  readonly #api_key: string | null;
  readonly dialect: Dialect;
  readonly #reasoning_models: readonly string[];
  readonly #token_limit_members: Readonly<Record<string, TokenLimitMember>>;
  /**
   * Names of the token limit that models have accepted, by model id. Bounded, because the models of the router are not configured and may
   * be many.
   */
  readonly #learned = new LRUCache<string, TokenLimitMember>({ max: LEARNED_MAX });
  /** Texts that no message of any hub may contain: this hub's address and key. */
  readonly secrets: readonly string[];
  /** The texts of `secrets` that are host names. */
  readonly hosts: readonly string[];

  constructor({ base_url, api_key, dialect = 'openai', reasoning_models = [], token_limit_members = {} }: ReachedHub) {
    const { origin, pathname } = new URL(base_url);
    this.secrets = secretsOf(base_url, api_key);
    this.hosts = hostsOf(base_url);
    this.pool = new Pool(origin, {
      connections: limits.hub_connections_max,
      connect: { timeout: limits.hub_connect_ms_max },
    });
    this.#path = pathname.replace(/\/$/, '');
    this.#api_key = api_key;
    this.dialect = dialect;
    this.#reasoning_models = reasoning_models;
    this.#token_limit_members = token_limit_members;
  }

  /** Whether so many requests wait for a socket that another hub would serve the next one sooner. */
  get busy(): boolean {
    return this.pool.stats.queued >= limits.hub_waiting_max;
  }

  get waiting(): number {
    return this.pool.stats.queued;
  }

  /** Requests that wait for a socket, per socket. */
  get crowding(): number {
    return this.waiting / limits.hub_connections_max;
  }

  /**
   * Whether a model accepts a reasoning effort. Always true for the router: its models are not configured, and its callers decide whether
   * to send one.
   */
  reasons(model: string): boolean {
    return this.#api_key === null || this.#reasoning_models.includes(model);
  }

  /**
   * Name of the token limit for a model: the configured name; otherwise the one that the model accepted before; otherwise the usual one for
   * models of its kind.
   */
  tokenLimitMember(model: string): TokenLimitMember {
    const usual = this.#reasoning_models.includes(model) ? 'max_completion_tokens' : 'max_tokens';
    return this.#token_limit_members[model] ?? this.#learned.get(model) ?? usual;
  }

  /** Remembers the name of the token limit that a model accepted after it had refused the other one. */
  learn(model: string, member: TokenLimitMember): void {
    this.#learned.set(model, member);
  }

  path(path: string): string {
    return this.#path + path;
  }

  /** All headers of a request besides those of HTTP itself. No value comes from the caller, except for the router key. */
  headers(content_type: string, accept: string, router_key: Secret | undefined): Record<string, string> {
    const key = this.#api_key ?? router_key?.reveal();
    if (key === undefined) throw new Error("a router call needs the caller's own key");
    return { accept, 'content-type': content_type, ...shownKey[this.dialect](key) };
  }
}

/** Headers that carry the key, by dialect. */
const shownKey: Readonly<Record<Dialect, (key: string) => Record<string, string>>> = {
  openai: key => ({ authorization: `Bearer ${key}` }),
  anthropic: key => ({ ...anthropicVersion, 'x-api-key': key }),
};

/** Connections by hub name. They include the router if there is one. */
export function openConnections(
  settings: readonly HubSettings[],
  router: { readonly base_url: string } | null,
): ReadonlyMap<string, HubConnection> {
  const hubs = settings.map(hub => [hub.name, new HubConnection(hub)] as const);
  return new Map(router ? [...hubs, [ROUTER, new HubConnection({ ...router, api_key: null })]] : hubs);
}

/** The part of a request that depends on the model that is called. */
export interface CalledModel {
  readonly model: string;
  /** Whether the model accepts `reasoning_effort`. */
  readonly reasons: boolean;
  readonly token_limit_member: TokenLimitMember;
}

export interface HubTarget extends CalledModel {
  readonly connection: HubConnection;
}

/** Connection to the hub of a candidate, and the candidate's model under the name that it has at that hub. */
export function targetOf(lines: ReadonlyMap<string, HubConnection>, candidate: Candidate): HubTarget {
  const line = lines.get(candidate.hub);
  if (!line) throw new Error(`no hub is named ${candidate.hub}`);
  const { model } = candidate;
  const token_limit_member = line.tokenLimitMember(model);
  return { connection: line, model: wireModel(candidate), reasons: line.reasons(model), token_limit_member };
}

/** Reason of the failure if an answer does not match the request, by kind of work. */
export const answerMismatches = {
  text: 'not_a_completion',
  image: 'not_an_image',
  audio: 'not_a_transcript',
  embedding: 'not_embeddings',
} as const satisfies Record<Modality, string>;

export type HubFailure =
  | 'timeout'
  /** The hub was not called, because too many requests wait for it already. */
  | 'busy'
  | 'unreachable'
  | 'cut_off'
  | 'too_large'
  | 'not_json'
  | (typeof answerMismatches)[Modality]
  | 'not_a_chunk'
  | 'cancelled'
  | `status_${number}`;

/** A call of a hub that failed. `refusal` is the hub's response if its status was not 200, otherwise null. */
export interface AskFailure {
  readonly kind: 'failed';
  readonly reason: HubFailure;
  readonly refusal: HubRefusal | null;
}

/** Result of one call of a hub. `named_model` is the model that the hub named, unchecked and of any type. */
export type AskOutcome<T> =
  | { readonly kind: 'answered'; readonly value: T; readonly named_model: unknown }
  | AskFailure;

/** One POST with a limit on its total time, and on the bytes that are read of its answer. */
export interface Post {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly timeout_ms: number;
  /** The request is closed when this signal is aborted. */
  readonly canceled?: AbortSignal | undefined;
  readonly answer_bytes_max: number;
}

/** Calls one hub once. Never throws: every failure has a name, so that the next hub can be tried. */
export async function askHub<T extends object>(
  pool: Pool,
  post: Post,
  { modality, read }: Pick<Question<T>, 'modality' | 'read'>,
): Promise<AskOutcome<T>> {
  const { path, headers, body, canceled } = post;
  const late = AbortSignal.timeout(post.timeout_ms);
  const signal = canceled ? AbortSignal.any([late, canceled]) : late;
  const ended = (otherwise: HubFailure) =>
    askFailure(canceled?.aborted ? 'cancelled' : late.aborted ? 'timeout' : otherwise);
  let response: Dispatcher.ResponseData;
  try {
    response = await pool.request({ method: 'POST', path, headers, body, signal });
  } catch {
    return ended('unreachable');
  }
  // A body that is destroyed before it is read emits an error event, which would end the process if nothing handled it.
  response.body.on('error', () => {});
  if (response.statusCode !== 200) return readRefusal(response);
  let bytes: Buffer | null;
  try {
    bytes = await readBounded(response.body, post.answer_bytes_max);
  } catch {
    return ended('cut_off');
  }
  if (bytes === null) return askFailure('too_large');
  const value = read(bytes);
  if (value === null) return askFailure(isJson(bytes) ? answerMismatches[modality] : 'not_json');
  return { kind: 'answered', value, named_model: modelNamedIn(bytes) };
}

export function askFailure(reason: HubFailure): AskFailure {
  return { kind: 'failed', reason, refusal: null };
}

/** Reads the body of a refusal, within the time limit and the signal of the request. Never throws. */
export async function readRefusal({ statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<AskFailure> {
  const said = await readBounded(body, limits.hub_error_bytes_max).catch(() => null);
  return { kind: 'failed', reason: `status_${status}`, refusal: { status, headers, body: said } };
}

/** Reads the whole body. Null as soon as it exceeds `bytes_max`; leaving the loop then destroys the stream. */
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
