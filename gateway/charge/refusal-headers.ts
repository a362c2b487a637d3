import { retryHeaders } from '../../rest-compat/problem.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, leaves } from '../../schema/errors.ts';
import type { Context } from '../../subgraphs/context.ts';
import { outcomeOpen } from './payment-response.ts';

interface Refused {
  readonly code: ErrorCode;
  readonly facts: JsonObject;
}

type Paid = Pick<Context, 'payment' | 'response'>;

/** What a refusal says in headers of the payment that came with its request: nothing where that is known to be unused. */
export function refusalHeaders(context: Paid, refused: Refused | undefined): Record<string, string> {
  if (!refused || context.payment === null) return {};
  const { code, facts } = refused;
  const left = leaves(code, facts.charged, true);
  if (left === 'unused') return {};
  const outcome = left === 'open' ? outcomeOpen(context, facts.transaction) : {};
  return { ...retryHeaders(refused, true), ...outcome };
}
