import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import { isJsonObject, jsonObjectIn } from '../../../schema/canonical-json.ts';
import { errors, Refusal } from '../../../schema/errors.ts';
import { Written } from '../../../schema/written.ts';

/** What a subgraph answers: a result, and the headers that a charge has put beside it. */
interface RemoteAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly result: ExecutionResult;
}

/**
 * One line of JSON, and behind it what was JSON text before: neither side reads that. The errors of `result` are in their
 * public form.
 */
export function answerText({ headers, result }: RemoteAnswer): string {
  const { bare, parts } = takeParts(result.data ?? null);
  const line = JSON.stringify({
    headers,
    result: { ...result, data: bare },
    lifted: parts.map(({ path, text }) => [path, text.length]),
  });
  return [`${line}\n`, ...parts.map(({ text }) => text)].join('');
}

/** Null where it is no answer of a subgraph of ours. */
export function readAnswer(text: string): RemoteAnswer | null {
  const end = text.indexOf('\n');
  const answer = jsonObjectIn(text.slice(0, end));
  if (answer === null || !isJsonObject(answer.headers) || !Array.isArray(answer.lifted)) return null;
  const result = resultOf(answer.result);
  if (result === null) return null;
  const parts: JsonPart[] = [];
  let from = end + 1;
  for (const [path, length] of answer.lifted as [string[], number][]) {
    parts.push({ path, text: text.slice(from, from + length) });
    from += length;
  }
  // Cut off, or more than was told of.
  if (from !== text.length || !putParts(result.data, parts)) return null;
  return { headers: answer.headers as RemoteAnswer['headers'], result };
}

export function readResult(text: string): ExecutionResult | null {
  return resultOf(jsonObjectIn(text));
}

/** What was a Refusal there is one to everybody here: code, status, param, offer and facts are its extensions. */
function resultOf(result: unknown): ExecutionResult | null {
  if (!isJsonObject(result)) return null;
  const { data = null, errors } = result as unknown as Formatted;
  return errors === undefined ? { data } : { data, errors: errors.map(revived) };
}

interface Formatted {
  readonly data?: ExecutionResult['data'];
  readonly errors?: readonly GraphQLFormattedError[];
}

function revived({ message, path, extensions }: GraphQLFormattedError): GraphQLError {
  const known = Object.hasOwn(errors, String(extensions?.code));
  if (!known) return new Refusal('internal', { cause: new Error(`a subgraph answered: ${message}`) });
  return new GraphQLError(message, { path, extensions });
}

/** A part of an answer that was JSON text before it was sent: where it stands, and that text. */
interface JsonPart {
  readonly path: readonly string[];
  readonly text: string;
}

/** Takes JSON text that is Written out of the data, so that it travels beside it and nobody reads it. */
function takeParts(data: unknown): { readonly bare: unknown; readonly parts: readonly JsonPart[] } {
  const parts: JsonPart[] = [];
  const take = (value: unknown, path: readonly string[]): unknown => {
    if (value instanceof Written) {
      parts.push({ path, text: value.text });
      return null;
    }
    // Lists are never gone into: what is written stands in objects alone.
    if (!isPlain(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, take(member, [...path, name])]));
  };
  return { bare: take(data, []), parts };
}

/** False where one of them has no place in `data`. */
function putParts(data: unknown, parts: readonly JsonPart[]): boolean {
  return parts.every(({ path, text }) => {
    const last = path.at(-1);
    let parent = data;
    for (const name of path.slice(0, -1)) parent = isPlain(parent) ? parent[name] : null;
    if (last === undefined || !isPlain(parent) || !Object.hasOwn(parent, last)) return false;
    parent[last] = new Written(text);
    return true;
  });
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
