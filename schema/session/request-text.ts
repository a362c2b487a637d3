import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../canonical-json.ts';
import { approvalLimits } from '../limits.ts';

/** What a person is shown of a call that they may approve. */
export interface RequestText {
  /** The beginning of it, where it is longer. */
  readonly request_text: string;
  /** Of all of it, in Unicode code points: of its first 2,000 as they are written out here, of the rest as it was sent. */
  readonly request_text_characters: number;
}

/**
 * What a request asks for, in words, taken of the very arguments that its hash is of: its messages, its input or its prompt, and
 * behind them every other member as JSON, so that nothing is left out but what lies beyond the limit. Of files and images it
 * says that they are there.
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

/** Only what may be shown is written out, and nothing but numbers is made of the rest: a body may be a million characters of one kind. */
function beginningOf(text: string): RequestText {
  const max = approvalLimits.request_text_characters_max;
  const end = endOfFirst(text, max);
  const shown = visible(text.slice(0, end));
  return {
    request_text: shown.slice(0, endOfFirst(shown, max)),
    request_text_characters: charactersFrom(shown, 0) + charactersFrom(text, end),
  };
}

/** Where the first so many code points end. */
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
  // Where there is an image, canonical messages have `parts` instead of `content`.
  const { role, content, parts, ...others } = said;
  if (role === undefined) return partOf(said);
  const rest = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null && value !== undefined));
  const more = Object.keys(rest).length > 0 ? ` ${canonicalJson(rest)}` : '';
  const words = [content, parts].filter(it => it !== undefined && it !== null).map(wordsOf);
  return `${String(role)}: ${words.join('\n')}${more}`;
}

/** Of a message: text as it is, all else by its kind, since of bytes nobody can judge. */
function partOf(part: JsonObject): string {
  if (typeof part.text === 'string') return part.text;
  return typeof part.type === 'string' ? `[${part.type}]` : canonicalJson(part);
}

/** What is not seen, or changes how what stands beside it is seen, is written out: whoever asks is not to hide anything. */
export function visible(text: string): string {
  return text.replaceAll(
    /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    character => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}
