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

/** A hub is not trusted: its answer is parsed, checked and copied member by member. Null if it is something else. */
export function readJsonAs<S extends z.ZodType>(schema: S, bytes: Uint8Array): z.output<S> | null {
  const value = parseOnce(bytes);
  return value === NOT_JSON ? null : (schema.safeParse(value).data ?? null);
}

function isJson(bytes: Uint8Array): boolean {
  return parseOnce(bytes) !== NOT_JSON;
}

const NOT_JSON = Symbol('not JSON');

/** What is read of one answer by several is parsed once. */
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

/** The member `model` of an answer: which model the hub names, of any type. */
function modelNamedIn(bytes: Uint8Array): unknown {
  const value = parseOnce(bytes);
  return isJsonObject(value) ? value.model : null;
}

/** One request for whole answers, whichever model answers. Built once for all hubs that are tried. */
export interface Question<T extends object> {
  readonly modality: Modality;
  /** Under the hub's base URL. */
  readonly path: `/${string}`;
  /** Where an answer may be larger than others. */
  readonly answer_bytes_max?: number;
  /** Error if the answer is larger. Absent: the hub counts as failed. */
  readonly too_large?: AnswerTooLarge;
  /** It bounds the tokens of its answer: by a name that not every model knows. */
  readonly limits_tokens?: boolean;
  /** Members of the body that no caller has sent. */
  readonly added: readonly string[];
  /** What was written for a model, without anything that identifies the caller. */
  body(asked: CalledModel): QuestionBody;
  /** The same for a hub of Anthropic's dialect, as the caller wrote it. Absent if such a hub is not used. */
  readonly in_anthropic?: AnthropicRequest;
  /**
   * What of the answer is passed on, checked and copied member by member. Null if it does not match the request.
   * `blocks`: the blocks of a hub of Anthropic's dialect.
   */
  read(answer: Buffer, blocks?: readonly HubBlock[] | null): T | null;
  /** The same without revealing details beside its content. Null if it is no answer without them. Absent: it consists of content only. */
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

/** How one hub is reached: its sockets, which all callers share, and what every request to it says. */
export class HubConnection {
  readonly pool: Pool;
  readonly #path: string;
  /** Null for the router, which is called with its callers' own keys. */
  readonly #api_key: string | null;
  readonly dialect: Dialect;
  readonly #reasoning_models: readonly string[];
  readonly #token_limit_members: Readonly<Record<string, TokenLimitMember>>;
  /** The names that models have accepted. Bounded, because the router's models are not listed anywhere. */
  readonly #learned = new LRUCache<string, TokenLimitMember>({ max: LEARNED_MAX });
  /** Texts that no message of any hub may contain: this hub's address and key. */
  readonly secrets: readonly string[];
  /** Host names among these texts. */
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

  /** So many requests wait for a socket that another hub serves the next one sooner. */
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

  /** Whether a model accepts a reasoning effort. On the router always, because its models are not configured and its callers choose. */
  reasons(model: string): boolean {
    return this.#api_key === null || this.#reasoning_models.includes(model);
  }

  /** The name that is configured for the model, else the one that it accepted before, else the usual one for models of its kind. */
  tokenLimitMember(model: string): TokenLimitMember {
    const usual = this.#reasoning_models.includes(model) ? 'max_completion_tokens' : 'max_tokens';
    return this.#token_limit_members[model] ?? this.#learned.get(model) ?? usual;
  }

  /** Called when the model has answered a request with this name after it refused the other one. */
  learn(model: string, member: TokenLimitMember): void {
    this.#learned.set(model, member);
  }

  path(path: string): string {
    return this.#path + path;
  }

  /** All headers that a hub receives besides those of HTTP itself: none of them is a caller's, except for the router's key. */
  headers(content_type: string, accept: string, router_key: Secret | undefined): Record<string, string> {
    const key = this.#api_key ?? router_key?.reveal();
    if (key === undefined) throw new Error("a router call needs the caller's own key");
    return { accept, 'content-type': content_type, ...shownKey[this.dialect](key) };
  }
}

/** How our key is shown in each dialect. */
const shownKey: Readonly<Record<Dialect, (key: string) => Record<string, string>>> = {
  openai: key => ({ authorization: `Bearer ${key}` }),
  anthropic: key => ({ ...anthropicVersion, 'x-api-key': key }),
};

/** By name; the router among them, if there is one. */
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
  /** It takes `reasoning_effort`. */
  readonly reasons: boolean;
  readonly token_limit_member: TokenLimitMember;
}

export interface HubTarget extends CalledModel {
  readonly connection: HubConnection;
}

/** The line to a candidate, and the model by the name that it has there. */
export function targetOf(lines: ReadonlyMap<string, HubConnection>, candidate: Candidate): HubTarget {
  const line = lines.get(candidate.hub);
  if (!line) throw new Error(`no hub is named ${candidate.hub}`);
  const { model } = candidate;
  const token_limit_member = line.tokenLimitMember(model);
  return { connection: line, model: wireModel(candidate), reasons: line.reasons(model), token_limit_member };
}

/** Failures by an answer that does not match the request. */
export const answerMismatches = {
  text: 'not_a_completion',
  image: 'not_an_image',
  audio: 'not_a_transcript',
  embedding: 'not_embeddings',
} as const satisfies Record<Modality, string>;

export type HubFailure =
  | 'timeout'
  /** Too many requests wait for it already: it was not called. */
  | 'busy'
  | 'unreachable'
  | 'cut_off'
  | 'too_large'
  | 'not_json'
  | (typeof answerMismatches)[Modality]
  | 'not_a_chunk'
  | 'cancelled'
  | `status_${number}`;

/** `refusal` is what it answered instead; null if it did not answer at all, or with something else than a refusal. */
export interface AskFailure {
  readonly kind: 'failed';
  readonly reason: HubFailure;
  readonly refusal: HubRefusal | null;
}

/** `named_model`: the model that the hub named, as it came. */
export type AskOutcome<T> =
  | { readonly kind: 'answered'; readonly value: T; readonly named_model: unknown }
  | AskFailure;

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

/** Calls one hub once. Never throws: every failure has a name, and the next hub may be tried. */
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
  // A stream that is destroyed unread says so by an error event, which would end the process.
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

/** Reads why a hub refused, within the time and the signal of the question itself. Never throws. */
export async function readRefusal({ statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<AskFailure> {
  const said = await readBounded(body, limits.hub_error_bytes_max).catch(() => null);
  return { kind: 'failed', reason: `status_${status}`, refusal: { status, headers, body: said } };
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
