import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../canonical-json.ts';
import { approvalLimits } from '../limits.ts';

/** Text of a call that a person is asked to approve. */
export interface RequestText {
  /** The text, cut after the limit. */
  readonly request_text: string;
  /** Length of the whole text in Unicode code points: the shown part as it is written out here, the rest as it was sent. */
  readonly request_text_characters: number;
}

/**
 * Text of a request, from exactly the arguments that its hash covers: messages, input or prompt, then every other member as JSON,
 * so that only what exceeds the limit is missing. Files and images are mentioned only.
 */
export function requestText(args: JsonObject): RequestText {
  const { messages, input, prompt, ...others } = args;
  const rest = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null && value !== undefined));
  const parts = [
    ...[messages, input, prompt].filter(it => it !== undefined && it !== null).map(wordsOf),
    ...(Object.keys(rest).length > 0 ? [canonicalJson(rest)] : []),
  ];
  return beginningOf(parts.join('\n\n'));
}

/** Only the shown part is written out, since a body may be a million characters of one kind. The rest is only counted. */
function beginningOf(text: string): RequestText {
  const max = approvalLimits.request_text_characters_max;
  const end = endOfFirst(text, max);
  const shown = visible(text.slice(0, end));
  return {
    request_text: shown.slice(0, endOfFirst(shown, max)),
    request_text_characters: charactersFrom(shown, 0) + charactersFrom(text, end),
  };
}

/** Index at which the first `count` code points end. */
function endOfFirst(text: string, count: number): number {
  let end = 0;
  for (let passed = 0; passed < count && end < text.length; passed++) end += unitsAt(text, end);
  return end;
}

function charactersFrom(text: string, start: number): number {
  let count = 0;
  for (let at = start; at < text.length; at += unitsAt(text, at)) count++;
  return count;
}

function unitsAt(text: string, at: number): 1 | 2 {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

function wordsOf(said: Json): string {
  if (typeof said === 'string') return said;
  if (Array.isArray(said)) return said.map(wordsOf).join('\n');
  if (!isJsonObject(said)) return canonicalJson(said);
  // A canonical message with an image has `parts` instead of `content`.
  const { role, content, parts, ...others } = said;
  if (role === undefined) return partOf(said);
  const rest = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null && value !== undefined));
  const more = Object.keys(rest).length > 0 ? ` ${canonicalJson(rest)}` : '';
  const words = [content, parts].filter(it => it !== undefined && it !== null).map(wordsOf);
  return `${String(role)}: ${words.join('\n')}${more}`;
}

/** A part of a message: text as it is, anything else by its kind, because a person cannot judge bytes. */
function partOf(part: JsonObject): string {
  if (typeof part.text === 'string') return part.text;
  return typeof part.type === 'string' ? `[${part.type}]` : canonicalJson(part);
}

/** Writes out invisible characters and those that change how their neighbours look, so that the caller cannot hide text. */
export function visible(text: string): string {
  return text.replaceAll(
    /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    character => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}
