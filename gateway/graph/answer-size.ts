import type { ExecutionResult } from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';
import { Written } from '../../schema/written.ts';
import type { Context } from '../../subgraphs/context.ts';

const MAX = limits.graphql_answer_bytes_max;

/**
 * The same result, or an error in its place where its texts and names take more than may be written out at once. An alias repeats a text
 * for nothing: a hundred of one text of megabytes are one text in memory, and hundreds of megabytes as soon as they are JSON.
 */
export function withinAnswerSize(result: ExecutionResult, context: Pick<Context, 'response'>): ExecutionResult {
  if (roomAfter(result.data, MAX) >= 0) return result;
  const paid = ['PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'].some(name => name in context.response.headers);
  const kept = paid ? ' The answer that was paid for is kept: send the same request with the same payment.' : '';
  const error = new Refusal('answer_too_large', {
    detail: `The selected fields take more than ${MAX} bytes. Select fewer of them, and each of them once.${kept}`,
    facts: { max: MAX, ...(paid && { charged: true }) },
  });
  return { data: null, errors: [...(result.errors ?? []), error] };
}

/** What of that many bytes is left after a value; less than none where it takes more, and then the rest of it is not looked at. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - Buffer.byteLength(value);
  if (value instanceof Written) return room - Buffer.byteLength(value.text);
  if (typeof value !== 'object' || value === null) return room;
  const named = !Array.isArray(value);
  let left = room;
  for (const [name, member] of Object.entries(value)) {
    left = roomAfter(member, named ? left - name.length : left);
    if (left < 0) break;
  }
  return left;
}
