import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { holdsSecret } from '../../../../schema/board/secrets.ts';
import { isJsonObject, type Json } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { retryAfterMs } from '../../../../schema/webhook/retry.ts';
import type { HubError } from '../../../answer-end.ts';

/** Why a hub did not answer a request, as far as the caller may be shown the reason. */
export type HubVerdict =
  /** The request is at fault: no other hub would accept it either. */
  | { readonly kind: 'request'; readonly status: RequestStatus; readonly error: HubError }
  /** The caller's router key, or the account of that key, is at fault. */
  | { readonly kind: 'key'; readonly hub_status: number; readonly error: HubError }
  /** The hub accepts no more requests for now. */
  | { readonly kind: 'crowded'; readonly status: 429 | 503; readonly retry_after_seconds: number | null }
  | AnswerTooLarge;

/**
 * The answer is larger than this service passes on, and would be so at any hub. `param`: the member of the request that determines its
 * size.
 */
export interface AnswerTooLarge {
  readonly kind: 'too_large';
  readonly param: string;
  /** Detail of the error, in this service's own words. */
  readonly detail: string;
}

export type RequestStatus = 400 | 403 | 413 | 422;

/** Response of a hub that is not an answer. `body` is null if it was too long or cut off. */
export interface HubRefusal {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array | null;
}

export interface VerdictRules {
  /** Whether the request went to the router with the caller's own key. Errors about that key concern the caller. */
  readonly by_router: boolean;
  /** Names of the members that this service added to the request. */
  readonly added: readonly string[];
  /** Keys, hosts and paths that must not be passed on. */
  readonly secrets: readonly string[];
  readonly now_ms: number;
}

/**
 * A hub's verdict on a request that it does not answer. Null for errors that concern only the operator: our account, our key, members that
 * this service adds, and faults of the hub. Pure.
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
 * A hub's verdict in an event in the middle of an answer, where no HTTP status shows whose fault the error is. `error` is null if nothing
 * of the event can be shown, or if it is about our account. Pure.
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

/** HTTP status for an error in a stream. OpenRouter writes it as `code`; other hubs name only the kind of the error. */
function statusIn(said: ReportedError, words: Words): number {
  const { code, type } = words;
  const stated = [said.code, said.status].map(Number).find(status => status >= 400 && status <= 599);
  if (stated !== undefined) return stated;
  if (isModeration(said, words)) return 403;
  return [code, type].some(word => word !== null && OF_REQUEST.test(word)) ? 400 : 500;
}

/** A hub's error, read from any of the common shapes. Absent members are undefined. */
interface ReportedError {
  readonly code?: Json | undefined;
  readonly type?: Json | undefined;
  readonly param?: Json | undefined;
  readonly message?: Json | undefined;
  readonly metadata?: Json | undefined;
  /** Google's name for the kind of an error; the reason is in `details` (google.rpc.ErrorInfo). */
  readonly status?: Json | undefined;
  readonly details?: Json | undefined;
}

/**
 * Error in the body of a response. OpenAI, Anthropic and OpenRouter send an object with a member `error`; Google's compatible endpoint
 * sends a list of one such object; in Ollama's, `error` is a text. vLLM and Mistral send the error without `error` around it, and FastAPI
 * calls the message `detail`.
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

/** Form of the names that programs read, which are never sentences: short, and of few different characters. */
const WORD = /^[a-z0-9_.[\]-]{1,100}$/;
type Words = Pick<HubError, 'code' | 'type' | 'param'>;

function wordsOf({ code, type, param }: ReportedError, secrets: readonly string[]): Words {
  const wordOf = (value: Json | undefined) =>
    typeof value === 'string' && WORD.test(value) && !tellsTooMuch(value, secrets) ? value : null;
  return { code: wordOf(code), type: wordOf(type), param: wordOf(param) };
}

/** Codes of errors about the account of the key, which a caller cannot change unless the key is the caller's router key. */
const ACCOUNT =
  /^(?:insufficient_(?:quota|balance|credits?|funds)|billing|account_|organization_|invalid_api_key|authentication_error|permission_error|quota_exceeded$)/;
/**
 * Reasons and sentences of such errors at hubs without a code for them: Google, Anthropic and xAI send 400. In doubt the next hub is tried.
 */
const ACCOUNT_REASON =
  /^(?:API_KEY_|BILLING_|CONSUMER_|SERVICE_DISABLED|FAILED_PRECONDITION$|PERMISSION_DENIED$|UNAUTHENTICATED$)/;
const ACCOUNT_SENTENCE =
  /\bapi[ _-]?key|\bcredit balance|\binsufficient (?:balance|credits?|funds|quota)|\bbilling\b|organi[sz]ation must be verified|\buser location\b|\baccount (?:is|has been|was) \w*(?:suspended|deactivated|disabled|closed)|exceeded your (?:current |monthly )?quota/i;

function isAboutAccount({ status, details, message }: ReportedError, { code, type }: Words, answered: number): boolean {
  const reasons = Array.isArray(details) ? details.map(detail => (isJsonObject(detail) ? detail.reason : null)) : [];
  return (
    [code, type].some(word => word !== null && ACCOUNT.test(word)) ||
    [status, ...reasons].some(reason => typeof reason === 'string' && ACCOUNT_REASON.test(reason)) ||
    // A sentence is read only with these two statuses, because any other status shows by itself what is wrong.
    ((answered === 400 || answered === 403) && typeof message === 'string' && ACCOUNT_SENTENCE.test(message))
  );
}

const MODERATION = /(?:moderation|content_(?:policy|filter)|flagged|safety|responsible_ai)/;

/**
 * Whether the input was refused by a content filter. OpenRouter sends no code for that, but states why the input was flagged
 * (`metadata.reasons`).
 */
function isModeration({ metadata }: ReportedError, { code, type, param }: Words) {
  if (isJsonObject(metadata) && Array.isArray(metadata.reasons)) return true;
  return [code, type, param].some(word => word !== null && MODERATION.test(word));
}

/**
 * Whether an error refuses a member that this service added. For the router, `model` does not count as added, because callers choose among
 * their own models there.
 */
function namesAdded({ param, message }: ReportedError, { code }: Words, { added, by_router }: VerdictRules): boolean {
  const ours = added.filter(name => !(by_router && name === 'model'));
  if (typeof param === 'string') return ours.includes(param.split(/[.[]/, 1)[0] ?? '');
  // Some hubs name the member only in the message. Their other messages may quote the caller's text, so the message must name it as a
  // parameter.
  const in_words = ours.includes('stream_options') && code === null;
  return in_words && typeof message === 'string' && STREAM_OPTIONS.test(message);
}

const STREAM_OPTIONS =
  /\b(?:parameters?|arguments?|fields?|inputs?|propert(?:y|ies)|permitted)\b.{0,24}\bstream_options\b|\bstream_options\b.{0,24}\b(?:not|unsupported|unknown|unexpected|extra)\b/i;

/** Ids of organisations, projects, users and the like, as hubs write them. */
const ACCOUNT_ID = /\b(?:org|organization|proj|project|user|acct|account|req|wrkspc|team|tenant)[-_][a-z0-9]{6,}/i;
/** A partly masked key. */
const MASKED = /\*{3,}|[a-z0-9_-]{4,}(?:\.{3}|…)[a-z0-9]{2,}/i;
/** Addresses of any machine: a hub's internal network must not be revealed. */
const ADDRESS =
  /\b[a-z][a-z0-9+.-]*:\/\/|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\w-]+(?:\.[\w-]+)+:\d{2,5}\b|\.(?:internal|local|svc|lan)\b/i;
/** Control characters, and characters that are invisible or change the direction of text. */
const NOT_DRAWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

function tellsTooMuch(text: string, secrets: readonly string[]): boolean {
  return ACCOUNT_ID.test(text) || holdsSecret(text) || holdsAny(text, secrets);
}

function holdsAny(text: string, secrets: readonly string[]): boolean {
  // Invisible characters in the middle of a secret must not hide it.
  const lower = text.replace(NOT_DRAWN, '').toLowerCase();
  return secrets.some(secret => lower.includes(secret.toLowerCase()));
}

/** Decides which parts of a hub's answer must not be shown to its caller. */
export interface RevealRules {
  /** Whether an id, a name or a word beside the content reveals details of a hub. */
  word(text: string): boolean;
  /** Whether a signature or an encrypted text contains a key, a host or a path of a hub. */
  ours(text: string): boolean;
  /** Whether the URL of a file that a hub made reveals such details. It may be on the hub's own host, but not on another hub's. */
  link(url: string): boolean;
}

/**
 * Ids as in `ACCOUNT_ID` that have a digit. In the ids and names of an answer, one without a digit, such as "user_lookup", may be the
 * caller's own name.
 */
const NUMBERED_ID =
  /(?<![a-z0-9])(?:org|organization|proj|project|user|acct|account|req|wrkspc|team|tenant)[-_](?=[a-z]*\d)[a-z0-9]{6,}/i;

/** Maximum number of results that are remembered, because the names of counts and kinds of reasoning repeat in every answer. */
const WORDS_JUDGED_MAX = 1_000;
const WORD_CHARS_MAX = 64;

/** Rules for the answers of one hub. `own`: spellings of that hub's host. */
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

/** A hub's message as plain text of limited length. Null if it is not a text, or contains something that the caller must not see. */
function publicMessage(message: Json | undefined, secrets: readonly string[]): string | null {
  if (typeof message !== 'string' || !message.isWellFormed()) return null;
  const text = message.replace(NOT_DRAWN, ' ').trim();
  if (text === '' || MASKED.test(text) || ADDRESS.test(text)) return null;
  if (tellsTooMuch(message, secrets) || tellsTooMuch(text, secrets)) return null;
  return [...text].slice(0, limits.hub_message_chars_max).join('');
}

/**
 * The model that a hub names in its answer, which is shown and signed unchanged. Null if it is not a plain text of at most the length of an
 * id, or reveals details of a hub. Names that this service publishes itself reveal nothing.
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

/** Seconds until the hub accepts requests again, from 1 to 3,600. Null if the hub states no time. */
function retryAfter(headers: IncomingHttpHeaders, now_ms: number): number | null {
  const { 'retry-after': said = null, 'retry-after-ms': said_ms } = headers;
  const named_ms = typeof said_ms === 'string' && /^\d{1,9}$/.test(said_ms) ? Number.parseInt(said_ms, 10) : null;
  const wait_ms = named_ms ?? retryAfterMs(said, now_ms);
  return wait_ms === null ? null : Math.ceil(Math.min(HOUR_MS, Math.max(1_000, wait_ms)) / 1_000);
}

/**
 * Texts that reveal the address or the key of a hub, including the key's spellings in a URL and in a header. Short parts are left out,
 * because they could be in any message.
 */
export function secretsOf(base_url: string, api_key: string | null): readonly string[] {
  const keys = api_key === null ? [] : spellingsOf(api_key);
  const parts = [...new URL(base_url).pathname.split('/'), ...keys].filter(isLong);
  return [...new Set([...hostsOf(base_url), ...parts])];
}

/** Spellings of the host of a hub: with and without its port, and its first label if that is not short. */
export function hostsOf(base_url: string): readonly string[] {
  const { host, hostname } = new URL(base_url);
  return [host, hostname, ...hostname.split('.', 1).filter(isLong)];
}

export const spellingsOf = (key: string): readonly string[] => [key, encodeURIComponent(key), base64Of(key)];
const isLong = (part: string) => part.length >= limits.hub_secret_chars_min;

/** Base64 of a text without its last characters, which depend on what follows the text. */
const base64Of = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '').slice(0, -1);
