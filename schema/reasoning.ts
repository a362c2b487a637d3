import { isJsonObject, type Json, type JsonObject, present } from './canonical-json.ts';

/**
 * Reasoning of a model before its answer, in the members that hubs use: `reasoning_content` (DeepSeek, vLLM, Moonshot), `reasoning` and
 * `reasoning_details` (OpenRouter, whose models require the details back unchanged). Absent members are left out.
 */
export type Reasoning = {
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly JsonObject[];
};

/** Kinds of detail that a stream sends in pieces, and the member that is split. */
const pieceMembers: ReadonlyMap<Json | undefined, string> = new Map([
  ['reasoning.text', 'text'],
  ['reasoning.summary', 'summary'],
]);

/**
 * Merges the details in the deltas of a stream. A piece of text or summary continues the previous entry if both have the same `type` and
 * `index`: the split member is concatenated, and other members have their last value other than null. All other entries are unchanged.
 * Merging is idempotent and does not depend on how entries are spread over deltas.
 */
export function mergedDetails(details: readonly JsonObject[]): readonly JsonObject[] {
  const merged: JsonObject[] = [];
  for (const detail of details) addDetail(merged, detail);
  return merged;
}

/** Adds one more entry to a merged list. */
export function addDetail(merged: JsonObject[], detail: JsonObject): void {
  const last = merged.at(-1);
  const member = last && memberContinued(last, detail);
  if (last && member) merged[merged.length - 1] = continueDetail(last, detail, member);
  else merged.push(detail);
}

/** An entry with more members is not continued, because each piece would copy them. */
const MEMBERS_MAX = 32;

/** The member in which one entry continues the other. Null if it is a new entry. */
function memberContinued(last: JsonObject, next: JsonObject): string | null {
  const member = pieceMembers.get(next.type);
  const alike =
    last.type === next.type && (last.index ?? null) === (next.index ?? null) && Object.keys(last).length <= MEMBERS_MAX;
  return member && alike && isPiece(last[member]) && isPiece(next[member]) ? member : null;
}

const isPiece = (value: Json | undefined) => value === undefined || value === null || typeof value === 'string';

function continueDetail(last: JsonObject, next: JsonObject, member: string): JsonObject {
  const [before, piece] = [last[member], next[member]];
  if (typeof before !== 'string' || typeof piece !== 'string') return { ...last, ...present(next) };
  // Concatenation copies nothing in V8: the text is long, and each delta adds a word.
  return { ...last, ...present(next), [member]: before + piece };
}

/** Two pieces of the same reasoning as one. */
export function joinedReasoning(one: Reasoning, next: Reasoning): Reasoning {
  return reasoningOf({
    reasoning_content: (one.reasoning_content ?? '') + (next.reasoning_content ?? ''),
    reasoning: (one.reasoning ?? '') + (next.reasoning ?? ''),
    reasoning_details: mergedDetails([...(one.reasoning_details ?? []), ...(next.reasoning_details ?? [])]),
  });
}

/** Without empty members. */
export function reasoningOf({ reasoning_content, reasoning, reasoning_details }: Required<Reasoning>): Reasoning {
  return {
    ...(reasoning_content === '' ? {} : { reasoning_content }),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(reasoning_details.length === 0 ? {} : { reasoning_details }),
  };
}

/** Members with the same content, from the plainest to the most detailed. */
export const reasoningSources = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;
export type ReasoningSource = (typeof reasoningSources)[number];

/** A member as text. */
export function reasoningTextIn(reasoning: Reasoning, source: ReasoningSource): string {
  if (source !== 'reasoning_details') return reasoning[source] ?? '';
  return (reasoning.reasoning_details ?? []).map(textOfDetail).join('');
}

function textOfDetail(detail: JsonObject): string {
  const text = detail[pieceMembers.get(detail.type) ?? ''];
  return typeof text === 'string' ? text : '';
}

/** The first member that has text. Null if none has, for example if all of it is encrypted. */
export function reasoningSource(reasoning: Reasoning): ReasoningSource | null {
  return reasoningSources.find(source => reasoningTextIn(reasoning, source) !== '') ?? null;
}

/** All reasoning, each part once. */
export function reasoningText(reasoning: Reasoning): string {
  const source = reasoningSource(reasoning);
  return source === null ? '' : reasoningTextIn(reasoning, source);
}

/** The reasoning members of a message. */
export function reasoningMembersOf(message: JsonObject): Reasoning {
  const { reasoning_content, reasoning, reasoning_details } = message;
  return reasoningOf({
    reasoning_content: typeof reasoning_content === 'string' ? reasoning_content : '',
    reasoning: typeof reasoning === 'string' ? reasoning : '',
    reasoning_details: Array.isArray(reasoning_details) ? reasoning_details.filter(isJsonObject) : [],
  });
}
