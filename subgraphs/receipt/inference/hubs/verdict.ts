import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { holdsSecret } from '../../../../schema/board/secrets.ts';
import { isJsonObject, type Json } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { retryAfterMs } from '../../../../schema/webhook/retry.ts';
import type { HubError } from '../../../answer-end.ts';

/** Why a hub did not answer a request, as far as its caller may know. */
export type HubVerdict =
  /** The request is at fault: no other hub would take it either. */
  | { readonly kind: 'request'; readonly status: RequestStatus; readonly error: HubError }
  /** The key that the caller brought for the router is at fault, or the account behind it. */
  | { readonly kind: 'key'; readonly hub_status: number; readonly error: HubError }
  /** The hub takes no more for now. */
  | { readonly kind: 'crowded'; readonly status: 429 | 503; readonly retry_after_seconds: number | null }
  | AnswerTooLarge;

/**
 * The answer is larger than this service passes on, and would be at any hub. `param`: the member that determines its
 * size.
 */
export interface AnswerTooLarge {
  readonly kind: 'too_large';
  readonly param: string;
  /** Detail of the error, in this service's own words. */
  readonly detail: string;
}

export type RequestStatus = 400 | 403 | 413 | 422;

/** What a hub sent instead of an answer. `body` is null if it was too long or cut off. */
export interface HubRefusal {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array | null;
}

export interface VerdictRules {
  /** The caller's own key was sent: errors about that key concern the caller. */
  readonly by_router: boolean;
  /** Members that we added to what the caller has sent. */
  readonly added: readonly string[];
  /** Keys, hosts and paths that must not be passed on. */
  readonly secrets: readonly string[];
  readonly now_ms: number;
}

/**
 * A hub's verdict on a request that it does not answer. Null for everything between the hub and the operator: account,
 * key, members that this service adds, and faults of the hub. Pure.
 */
export function verdictOf(refusal: HubRefusal, rules: VerdictRules): HubVerdict | null {
  const { status, headers } = refusal;
  const { by_router, secrets, now_ms } = rules;
  const said = errorIn(refusal.body);
  const words = wordsOf(said, secrets);
  const error = { ...words, message: publicMessage(said.message, secrets) };
  const about_account = status < 500 && isAboutAccount(said, words, status);
  if (by_router && (about_account || status === 401 || status === 402))
    return { kind: 'key', hub_status: status, error };
  if (about_account || (!by_router && words.code === 'model_not_found')) return null;
  switch (status) {
    case 400:
    case 413:
    case 422:
      return namesAdded(said, words, rules) ? null : { kind: 'request', status, error };
    case 403:
      if (isModeration(said, words)) return { kind: 'request', status, error };
      return by_router ? { kind: 'key', hub_status: status, error } : null;
    case 429:
    case 503:
      return { kind: 'crowded', status, retry_after_seconds: retryAfter(headers, now_ms) };
    default:
      return null;
  }
}

/**
 * The same for an error that comes as an event in the middle of an answer, where no status says whose fault it is. `error` is null if the
 * event says nothing, or is about our account. Pure.
 */
export function verdictInStream(
  event: string,
  rules: Omit<VerdictRules, 'now_ms'>,
): { readonly by_request: boolean; readonly error: HubError | null } {
  const body = Buffer.from(event);
  const said = errorIn(body);
  const words = wordsOf(said, rules.secrets);
  const message = publicMessage(said.message, rules.secrets);
  const status = statusIn(said, words);
  const verdict = verdictOf({ status, headers: {}, body }, { ...rules, now_ms: 0 });
  const is_ours = !rules.by_router && isAboutAccount(said, words, 400);
  const tells = message !== null || Object.values(words).some(word => word !== null);
  return { by_request: verdict?.kind === 'request', error: is_ours || !tells ? null : { ...words, message } };
}

const OF_REQUEST = /^(?:invalid_request|context_length|string_above_max|content_policy|bad_?request)/;

/** OpenRouter writes the status as `code`; others name the kind of error alone. */
function statusIn(said: ReportedError, words: Words): number {
  const { code, type } = words;
  const stated = [said.code, said.status].map(Number).find(status => status >= 400 && status <= 599);
  if (stated !== undefined) return stated;
  if (isModeration(said, words)) return 403;
  return [code, type].some(word => word !== null && OF_REQUEST.test(word)) ? 400 : 500;
}

/** A hub's error, whichever of the common shapes it has; members that are not there are undefined. */
interface ReportedError {
  readonly code?: Json | undefined;
  readonly type?: Json | undefined;
  readonly param?: Json | undefined;
  readonly message?: Json | undefined;
  readonly metadata?: Json | undefined;
  /** As Google names the kind of an error, and says why (google.rpc.ErrorInfo). */
  readonly status?: Json | undefined;
  readonly details?: Json | undefined;
}

/**
 * OpenAI, Anthropic and OpenRouter wrap it as `error`, Google's compatible endpoint in a list of one, Ollama as a text; vLLM
 * and Mistral do not wrap it, and FastAPI calls the message `detail`.
 */
export function errorIn(body: Uint8Array | null): ReportedError {
  const value = body && jsonIn(body);
  const first = Array.isArray(value) ? value[0] : value;
  if (!isJsonObject(first)) return {};
  const { error = first } = first;
  if (typeof error === 'string') return { message: error };
  if (!isJsonObject(error)) return {};
  return { ...error, message: error.message ?? error.detail };
}

function jsonIn(bytes: Uint8Array): Json {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

/** Names that programs act on, never a sentence: short, and of few signs. */
const WORD = /^[a-z0-9_.[\]-]{1,100}$/;
type Words = Pick<HubError, 'code' | 'type' | 'param'>;

function wordsOf({ code, type, param }: ReportedError, secrets: readonly string[]): Words {
  const wordOf = (value: Json | undefined) =>
    typeof value === 'string' && WORD.test(value) && !tellsTooMuch(value, secrets) ? value : null;
  return { code: wordOf(code), type: wordOf(type), param: wordOf(param) };
}

/** Errors of the account behind the key, which the caller of a hub cannot change. */
const ACCOUNT =
  /^(?:insufficient_(?:quota|balance|credits?|funds)|billing|account_|organization_|invalid_api_key|authentication_error|permission_error|quota_exceeded$)/;
/** The same for hubs without a code for it: Google, Anthropic and xAI answer 400 then. In doubt another hub is tried. */
const ACCOUNT_REASON =
  /^(?:API_KEY_|BILLING_|CONSUMER_|SERVICE_DISABLED|FAILED_PRECONDITION$|PERMISSION_DENIED$|UNAUTHENTICATED$)/;
const ACCOUNT_SENTENCE =
  /\bapi[ _-]?key|\bcredit balance|\binsufficient (?:balance|credits?|funds|quota)|\bbilling\b|organi[sz]ation must be verified|\buser location\b|\baccount (?:is|has been|was) \w*(?:suspended|deactivated|disabled|closed)|exceeded your (?:current |monthly )?quota/i;

function isAboutAccount({ status, details, message }: ReportedError, { code, type }: Words, answered: number): boolean {
  const reasons = Array.isArray(details) ? details.map(detail => (isJsonObject(detail) ? detail.reason : null)) : [];
  return (
    [code, type].some(word => word !== null && ACCOUNT.test(word)) ||
    [status, ...reasons].some(reason => typeof reason === 'string' && ACCOUNT_REASON.test(reason)) ||
    // If the status says what is wrong, a sentence adds nothing.
    ((answered === 400 || answered === 403) && typeof message === 'string' && ACCOUNT_SENTENCE.test(message))
  );
}

const MODERATION = /(?:moderation|content_(?:policy|filter)|flagged|safety|responsible_ai)/;

/** OpenRouter gives no code: it says why the input was flagged (`metadata.reasons`). */
function isModeration({ metadata }: ReportedError, { code, type, param }: Words) {
  if (isJsonObject(metadata) && Array.isArray(metadata.reasons)) return true;
  return [code, type, param].some(word => word !== null && MODERATION.test(word));
}

/** Whether it refuses a member that the caller has not sent. Router requests are for the caller's own models. */
function namesAdded({ param, message }: ReportedError, { code }: Words, { added, by_router }: VerdictRules): boolean {
  const ours = added.filter(name => !(by_router && name === 'model'));
  if (typeof param === 'string') return ours.includes(param.split(/[.[]/, 1)[0] ?? '');
  // Some name it in the message only, and their other errors may quote what the caller has written.
  const in_words = ours.includes('stream_options') && code === null;
  return in_words && typeof message === 'string' && STREAM_OPTIONS.test(message);
}

const STREAM_OPTIONS =
  /\b(?:parameters?|arguments?|fields?|inputs?|propert(?:y|ies)|permitted)\b.{0,24}\bstream_options\b|\bstream_options\b.{0,24}\b(?:not|unsupported|unknown|unexpected|extra)\b/i;

/** Organisations, projects and users as hubs name them. */
const ACCOUNT_ID = /\b(?:org|organization|proj|project|user|acct|account|req|wrkspc|team|tenant)[-_][a-z0-9]{6,}/i;
/** A partly masked key. */
const MASKED = /\*{3,}|[a-z0-9_-]{4,}(?:\.{3}|…)[a-z0-9]{2,}/i;
/** Addresses of any machine: a hub's internal network must not be revealed. */
const ADDRESS =
  /\b[a-z][a-z0-9+.-]*:\/\/|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\w-]+(?:\.[\w-]+)+:\d{2,5}\b|\.(?:internal|local|svc|lan)\b/i;
/** Control characters, and those that are not drawn or draw text in another order. */
const NOT_DRAWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

function tellsTooMuch(text: string, secrets: readonly string[]): boolean {
  return ACCOUNT_ID.test(text) || holdsSecret(text) || holdsAny(text, secrets);
}

function holdsAny(text: string, secrets: readonly string[]): boolean {
  // Characters that are not drawn may be in the middle of a name.
  const lower = text.replace(NOT_DRAWN, '').toLowerCase();
  return secrets.some(secret => lower.includes(secret.toLowerCase()));
}

/** Decides which parts of a hub's answer must not be shown to its caller. */
export interface RevealRules {
  /** Whether an id, a name or a word beside the content reveals something. */
  word(text: string): boolean;
  /** Whether a text that is sealed, or opaque to us, holds a key, a host or a path of a hub. */
  ours(text: string): boolean;
  /** Whether an address at which a hub keeps what it has made does: it may be on its own host, but not on another hub's. */
  link(url: string): boolean;
}

/** The same with a digit: in ids and names of an answer "user_lookup" is a caller's own word. */
const NUMBERED_ID =
  /(?<![a-z0-9])(?:org|organization|proj|project|user|acct|account|req|wrkspc|team|tenant)[-_](?=[a-z]*\d)[a-z0-9]{6,}/i;

/** Names of what is counted, and kinds of reasoning, repeat in every answer. */
const WORDS_JUDGED_MAX = 1_000;
const WORD_CHARS_MAX = 64;

/** `own`: the host of the hub that answers. */
export function revealingTexts(secrets: readonly string[], own: readonly string[]): RevealRules {
  const elsewhere = secrets.filter(secret => !own.includes(secret));
  const judged = new LRUCache<string, boolean>({ max: WORDS_JUDGED_MAX });
  const judge = (text: string) => NUMBERED_ID.test(text) || holdsSecret(text) || holdsAny(text, secrets);
  return {
    word(text) {
      if (text.length > WORD_CHARS_MAX) return judge(text);
      const tells = judged.get(text) ?? judge(text);
      judged.set(text, tells);
      return tells;
    },
    ours: text => holdsAny(text, secrets),
    link: url => holdsSecret(url) || holdsAny(url, elsewhere) || holdsAny(unescapeUrl(url), elsewhere),
  };
}

function unescapeUrl(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

/** As plain text of bounded length; null if it is not text, or names what the caller must not know. */
function publicMessage(message: Json | undefined, secrets: readonly string[]): string | null {
  if (typeof message !== 'string' || !message.isWellFormed()) return null;
  const text = message.replace(NOT_DRAWN, ' ').trim();
  if (text === '' || MASKED.test(text) || ADDRESS.test(text)) return null;
  if (tellsTooMuch(message, secrets) || tellsTooMuch(text, secrets)) return null;
  return [...text].slice(0, limits.hub_message_chars_max).join('');
}

/**
 * The model that a hub names in its answer, to be shown and signed unchanged. Null if it is no plain text of the length
 * of an id, or reveals details of a hub; names that this service publishes itself reveal nothing.
 */
export function answeredModelOf(
  named: unknown,
  published: ReadonlySet<string>,
  secrets: readonly string[],
): string | null {
  if (typeof named !== 'string' || named.length > limits.model_id_chars_max) return null;
  return published.has(named) || publicMessage(named, secrets) === named ? named : null;
}

const HOUR_MS = 3_600_000;

/** At least a second, at most an hour; null if the hub states no time. */
function retryAfter(headers: IncomingHttpHeaders, now_ms: number): number | null {
  const { 'retry-after': said = null, 'retry-after-ms': said_ms } = headers;
  const named_ms = typeof said_ms === 'string' && /^\d{1,9}$/.test(said_ms) ? Number.parseInt(said_ms, 10) : null;
  const wait_ms = named_ms ?? retryAfterMs(said, now_ms);
  return wait_ms === null ? null : Math.ceil(Math.min(HOUR_MS, Math.max(1_000, wait_ms)) / 1_000);
}

/**
 * Texts that reveal where a hub is, or open it, also as they are written in a URL or a header. Short ones could be in
 * any message.
 */
export function secretsOf(base_url: string, api_key: string | null): readonly string[] {
  const keys = api_key === null ? [] : spellingsOf(api_key);
  const parts = [...new URL(base_url).pathname.split('/'), ...keys].filter(isLong);
  return [...new Set([...hostsOf(base_url), ...parts])];
}

/** Spellings of the host of a hub, with its port and without. */
export function hostsOf(base_url: string): readonly string[] {
  const { host, hostname } = new URL(base_url);
  return [host, hostname, ...hostname.split('.', 1).filter(isLong)];
}

export const spellingsOf = (key: string): readonly string[] => [key, encodeURIComponent(key), base64Of(key)];
const isLong = (part: string) => part.length >= limits.hub_secret_chars_min;

/** Without its last signs, which depend on what follows. */
const base64Of = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '').slice(0, -1);
