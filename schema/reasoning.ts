import { isJsonObject, type Json, type JsonObject, present } from './canonical-json.ts';

/**
 * What a model thought before it answered, in the members that hubs use: `reasoning_content` (DeepSeek, vLLM, Moonshot), `reasoning` and
 * `reasoning_details` (OpenRouter, whose models want the details back unchanged). What is not there is left out.
 */
export type Reasoning = {
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly JsonObject[];
};

/** Kinds of detail that a stream brings in pieces, and the member that the pieces of each have. */
const pieceMembers: ReadonlyMap<Json | undefined, string> = new Map([
  ['reasoning.text', 'text'],
  ['reasoning.summary', 'summary'],
]);

/**
 * The details that the deltas of a stream add up to. A piece of text or of a summary continues the entry before it where both have the
 * same `type` and `index`: the pieces are joined, and any other member is the last one that was not null. All else stands as it came.
 * Merging twice changes nothing, and it makes no difference how the entries are spread over deltas.
 */
export function mergedDetails(details: readonly JsonObject[]): readonly JsonObject[] {
  const merged: JsonObject[] = [];
  for (const detail of details) addDetail(merged, detail);
  return merged;
}

/** Adds one more entry to such a list. */
export function addDetail(merged: JsonObject[], detail: JsonObject): void {
  const last = merged.at(-1);
  const member = last && memberContinued(last, detail);
  if (last && member) merged[merged.length - 1] = continued(last, detail, member);
  else merged.push(detail);
}

/** An entry of more members, which each piece would copy, is not continued. */
const MEMBERS_MAX = 32;

/** The member in which one continues the other; null where it is an entry of its own. */
function memberContinued(last: JsonObject, next: JsonObject): string | null {
  const member = pieceMembers.get(next.type);
  const alike =
    last.type === next.type && (last.index ?? null) === (next.index ?? null) && Object.keys(last).length <= MEMBERS_MAX;
  return member && alike && isPiece(last[member]) && isPiece(next[member]) ? member : null;
}

const isPiece = (value: Json | undefined) => value === undefined || value === null || typeof value === 'string';

function continued(last: JsonObject, next: JsonObject, member: string): JsonObject {
  const [before, piece] = [last[member], next[member]];
  if (typeof before !== 'string' || typeof piece !== 'string') return { ...last, ...present(next) };
  // Joined by +, which copies nothing: what has come so far is long, and each delta adds a word.
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

/** Without the members that say nothing. */
export function reasoningOf({ reasoning_content, reasoning, reasoning_details }: Required<Reasoning>): Reasoning {
  return {
    ...(reasoning_content === '' ? {} : { reasoning_content }),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(reasoning_details.length === 0 ? {} : { reasoning_details }),
  };
}

/** Members that say the same, from the plainest to the one that says most beside it. */
export const reasoningSources = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;
export type ReasoningSource = (typeof reasoningSources)[number];

/** What one of its members says as text. */
export function reasoningTextIn(reasoning: Reasoning, source: ReasoningSource): string {
  if (source !== 'reasoning_details') return reasoning[source] ?? '';
  return (reasoning.reasoning_details ?? []).map(textOfDetail).join('');
}

function textOfDetail(detail: JsonObject): string {
  const text = detail[pieceMembers.get(detail.type) ?? ''];
  return typeof text === 'string' ? text : '';
}

/** The first member that says anything as text; null where none does, as where all of it is encrypted. */
export function reasoningSource(reasoning: Reasoning): ReasoningSource | null {
  return reasoningSources.find(source => reasoningTextIn(reasoning, source) !== '') ?? null;
}

/** All that was thought, once. */
export function reasoningText(reasoning: Reasoning): string {
  const source = reasoningSource(reasoning);
  return source === null ? '' : reasoningTextIn(reasoning, source);
}

/** The members of an object that are reasoning, as a message of an answer has them. */
export function reasoningMembersOf(message: JsonObject): Reasoning {
  const { reasoning_content, reasoning, reasoning_details } = message;
  return reasoningOf({
    reasoning_content: typeof reasoning_content === 'string' ? reasoning_content : '',
    reasoning: typeof reasoning === 'string' ? reasoning : '',
    reasoning_details: Array.isArray(reasoning_details) ? reasoning_details.filter(isJsonObject) : [],
  });
}
