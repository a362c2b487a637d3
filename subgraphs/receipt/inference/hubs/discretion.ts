import { isJsonObject, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import type { RevealRules } from './verdict.ts';

/*
 * Removes details of hubs from the parts of an answer that are not content: ids, names and words beside the model's text. Content is passed
 * on unchanged.
 */

/** Facts that decide whether a part of an answer reveals details of a hub. */
export interface Discretion {
  readonly tells: RevealRules;
  /** Names of the caller's tools, which reveal nothing to that caller. */
  readonly tools: ReadonlySet<string>;
}

export function namesOfTools(tools: readonly JsonObject[] = []): ReadonlySet<string> {
  return new Set(tools.flatMap(tool => (isJsonObject(tool.function) ? [String(tool.function.name)] : [])));
}

interface NamedToolCall {
  readonly index?: number | null | undefined;
  readonly id?: string | null | undefined;
  readonly function?: { readonly name?: string | null | undefined } | null | undefined;
}

interface MessageContent {
  readonly tool_calls?: readonly NamedToolCall[] | null | undefined;
  readonly reasoning_details?: readonly JsonObject[] | null | undefined;
}

/**
 * A message or a delta without details of a hub. Null if it calls a tool whose name reveals such details: that tool cannot be one of the
 * caller's.
 */
export function discreetMessage<M extends MessageContent>(message: M, { tells, tools }: Discretion): M | null {
  const { tool_calls: calls, reasoning_details: details } = message;
  if (!calls && !details) return message;
  const names = (calls ?? []).flatMap(call => call.function?.name ?? []);
  if (names.some(name => !tools.has(name) && tells.word(name))) return null;
  return {
    ...message,
    ...(calls && { tool_calls: calls.map((call, position) => discreetCall(call, position, tells)) }),
    ...(details && { reasoning_details: details.flatMap(detail => discreetDetail(detail, tells)) }),
  };
}

/** Form of an id: printable characters without spaces, because an id is not a sentence. */
const ID = /^[!-~]+$/;

/** A call whose id reveals nothing. An id only connects a result with its call, so any other id serves as well. */
function discreetCall<C extends NamedToolCall>(call: C, position: number, tells: RevealRules): C {
  const { id, index } = call;
  return !id || (ID.test(id) && !tells.word(id)) ? call : { ...call, id: `svc_call_${index ?? position}` };
}

/**
 * Members of a reasoning detail that are content. Those of `sealed` are signatures or encrypted, so they can be checked only for our own
 * secrets.
 */
const thoughts: ReadonlySet<string> = new Set(['text', 'summary']);
const sealed: ReadonlySet<string> = new Set(['signature', 'data']);

/**
 * A reasoning detail without the members that reveal details of a hub. Empty if an encrypted detail loses its data: it would be useless, so
 * a stream must not begin it.
 */
function discreetDetail(detail: JsonObject, tells: RevealRules): readonly JsonObject[] {
  const members = Object.entries(detail);
  const kept = members.filter(([name, value]) => {
    if (typeof value === 'string' && thoughts.has(name)) return true;
    return typeof value === 'string' && sealed.has(name) ? !tells.ours(value) : !tellsIn({ [name]: value }, tells);
  });
  if (kept.length === members.length) return [detail];
  const discreet = Object.fromEntries(kept);
  return detail.type === 'reasoning.encrypted' && !('data' in discreet) ? [] : [discreet];
}

function tellsIn(value: Json, tells: RevealRules): boolean {
  if (typeof value === 'string') return tells.word(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(member => tellsIn(member, tells));
  return Object.entries(value).some(([name, member]) => tells.word(name) || tellsIn(member, tells));
}

/** Usage without the members whose names reveal details of a hub, at any depth. */
export function discreetUsage<U extends object>(usage: U, tells: RevealRules): U {
  const kept = Object.entries(usage)
    .filter(([name]) => !tells.word(name))
    .map(([name, value]) => [name, isJsonObject(value) ? discreetUsage(value, tells) : value]);
  return Object.fromEntries(kept) as U;
}

interface AnswerChoice {
  readonly message: MessageContent;
}

/** A whole answer without details of a hub. Null if `discreetMessage` returns null for one of its messages. */
export function discreetReply<R extends { readonly choices: readonly AnswerChoice[]; readonly usage: object | null }>(
  reply: R,
  discretion: Discretion,
): R | null {
  const { tells } = discretion;
  const messages = reply.choices.map(({ message }) => discreetMessage(message, discretion));
  if (messages.includes(null)) return null;
  const choices = reply.choices.map((choice, index) => ({ ...choice, message: messages[index] }));
  return { ...reply, choices, usage: reply.usage && discreetUsage(reply.usage, tells) };
}
