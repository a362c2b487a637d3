import type { ExecutionResult } from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import { RawJson } from '../../schema/json-text.ts';
import { limits } from '../../schema/limits.ts';
import type { Context } from '../../subgraphs/context.ts';

const MAX = limits.graphql_answer_bytes_max;

/**
 * Returns the result, or an error if the result is too large to write. With aliases, a text of a few megabytes in memory can become
 * hundreds of megabytes of JSON.
 */
export function withinAnswerSize(result: ExecutionResult, context: Pick<Context, 'response'>): ExecutionResult {
  const { data, errors } = result;
  if (fits(errors ? { data, errors } : { data })) return result;
  const refused = tooLarge(context);
  const complete = { ...refused, errors: [...(errors ?? []), ...refused.errors] };
  return fits(complete) ? complete : refused;
}

/** Returns the text of a result, or the text of an error if the result is longer than the receiver accepts. */
export function textWithin(
  bytes_max: number,
  result: ExecutionResult,
  context: Pick<Context, 'response'>,
  textOf: (result: ExecutionResult) => string,
): string {
  const text = textOf(withinAnswerSize(result, context));
  return Buffer.byteLength(text) <= bytes_max ? text : textOf(tooLarge(context));
}

function tooLarge({ response }: Pick<Context, 'response'>) {
  const paid = ['PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'].some(name => name in response.headers);
  const kept = paid ? ' The answer that was paid for is kept: send the same request with the same payment.' : '';
  const error = new Refusal('answer_too_large', {
    detail: `The selected fields take more than ${MAX} bytes. Select fewer of them, and each of them once.${kept}`,
    facts: { max: MAX, ...(paid && { charged: true }) },
  });
  return { data: null, errors: [error] };
}

/** The size of a leaf as JSON, in bytes. */
interface LeafBytes {
  text(text: string): number;
  number(value: number): number;
}

/** Upper bounds, which are found without reading each character. */
const atMost: LeafBytes = {
  text: ({ length }) => 6 * length + 2,
  number: () => '-0.0000012345678901234567'.length,
};

const exactly: LeafBytes = { text: bytesOfText, number: value => (Number.isFinite(value) ? String(value).length : 4) };

const fits = (result: object) => roomAfter(result, MAX, atMost) >= 0 || roomAfter(result, MAX, exactly) >= 0;

/**
 * Number of bytes that remain of `room` after a value in the form in which `jsonText` writes it. Negative if the value takes more; the rest
 * is not measured then.
 */
function roomAfter(value: unknown, room: number, bytes: LeafBytes): number {
  switch (typeof value) {
    case 'string':
      return value.length > room ? -1 : room - bytes.text(value);
    case 'number':
      return room - bytes.number(value);
    case 'object':
      break;
    default:
      return room - (value === false ? 5 : 4);
  }
  if (value === null) return room - 4;
  if (value instanceof RawJson) return room - Buffer.byteLength(value.text);
  if ('toJSON' in value && typeof value.toJSON === 'function') return roomAfter(value.toJSON(), room, bytes);
  return Array.isArray(value) ? roomAfterList(value, room, bytes) : roomAfterMembers(value, room, bytes);
}

/** Counts the brackets, and a comma before each item except the first. */
function roomAfterList(items: readonly unknown[], room: number, bytes: LeafBytes): number {
  let left = room - 2 - Math.max(items.length - 1, 0);
  for (const item of items) {
    if (left < 0) break;
    left = roomAfter(item, left, bytes);
  }
  return left;
}

/** Counts a colon for each name. Undefined members are not written. */
function roomAfterMembers(value: object, room: number, bytes: LeafBytes): number {
  let left = room - 2;
  let separated = 0;
  // A `for in` loop, because an array of entries would be allocated for each object of each response.
  for (const name in value) {
    const member = Object.hasOwn(value, name) ? value[name as keyof typeof value] : undefined;
    if (member === undefined) continue;
    left = roomAfter(member, left - bytes.text(name) - 1 - separated, bytes);
    if (left < 0) break;
    separated = 1;
  }
  return left;
}

/** Control characters with a short escape of two characters. All others take the six of `\u0000`. */
const LETTERED = new Set([...'\b\t\n\f\r'].map(letter => letter.charCodeAt(0)));

/**
 * Size of a text as JSON, in bytes. By QuoteJSONString of ECMA-262, quotes, backslashes, control characters and lone surrogates are
 * escaped.
 */
function bytesOfText(text: string): number {
  if (!text.isWellFormed()) return Buffer.byteLength(JSON.stringify(text));
  let bytes = Buffer.byteLength(text) + 2;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22 || unit === 0x5c) bytes += 1;
    else if (unit < 0x20) bytes += LETTERED.has(unit) ? 1 : 5;
  }
  return bytes;
}
