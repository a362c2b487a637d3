import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import { isJsonObject, jsonObjectIn } from '../../../schema/canonical-json.ts';
import { errors, Refusal } from '../../../schema/errors.ts';
import { RawJson } from '../../../schema/json-text.ts';

/** The response of a subgraph: a result, and the headers that a charge has added to it. */
interface RemoteAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly result: ExecutionResult;
}

/**
 * Text of a response: one line of JSON, followed by parts that were JSON text already, which neither side parses. The errors of `result`
 * are in their public form.
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

/** Reads the text of a response. Null if it is not a response of a subgraph of this project. */
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
  // The text was cut off, or is longer than announced.
  if (from !== text.length || !putParts(result.data, parts)) return null;
  return { headers: answer.headers as RemoteAnswer['headers'], result };
}

export function readResult(text: string): ExecutionResult | null {
  return resultOf(jsonObjectIn(text));
}

/** Restores a Refusal of the subgraph: code, status, param, offer and facts are its extensions. */
function resultOf(result: unknown): ExecutionResult | null {
  if (!isJsonObject(result)) return null;
  const { data = null, errors } = result as unknown as Formatted;
  return errors === undefined ? { data } : { data, errors: errors.map(errorFromSubgraph) };
}

interface Formatted {
  readonly data?: ExecutionResult['data'];
  readonly errors?: readonly GraphQLFormattedError[];
}

function errorFromSubgraph({ message, path, extensions }: GraphQLFormattedError): GraphQLError {
  const known = Object.hasOwn(errors, String(extensions?.code));
  if (!known) return new Refusal('internal', { cause: new Error(`a subgraph answered: ${message}`) });
  return new GraphQLError(message, { path, extensions });
}

/** A part of a response that was JSON text before it was sent: its path and the text. */
interface JsonPart {
  readonly path: readonly string[];
  readonly text: string;
}

/** Removes Written JSON text from the data, so that it is sent separately and not parsed. */
function takeParts(data: unknown): { readonly bare: unknown; readonly parts: readonly JsonPart[] } {
  const parts: JsonPart[] = [];
  const take = (value: unknown, path: readonly string[]): unknown => {
    if (value instanceof RawJson) {
      parts.push({ path, text: value.text });
      return null;
    }
    // Lists are not searched, because Written text occurs in objects only.
    if (!isPlain(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, take(member, [...path, name])]));
  };
  return { bare: take(data, []), parts };
}

/** Puts the parts back into the data. False if one of them has no place in `data`. */
function putParts(data: unknown, parts: readonly JsonPart[]): boolean {
  return parts.every(({ path, text }) => {
    const last = path.at(-1);
    let parent = data;
    for (const name of path.slice(0, -1)) parent = isPlain(parent) ? parent[name] : null;
    if (last === undefined || !isPlain(parent) || !Object.hasOwn(parent, last)) return false;
    parent[last] = new RawJson(text);
    return true;
  });
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
