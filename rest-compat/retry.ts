import type { JsonObject } from '../schema/canonical-json.ts';
import { type ErrorCode, leaves } from '../schema/errors.ts';

/** Seconds after which the same request may fare better, where the error itself does not know. */
const retryAfterSeconds: Partial<Record<ErrorCode, number>> = {
  payment_in_flight: 1,
  idempotency_key_in_flight: 1,
  settlement_pending: 5,
  rate_limited: 5,
  chain_unavailable: 10,
  facilitator_unavailable: 10,
  fee_too_high: 30,
  upload_unknown: 1,
  unavailable: 5,
};

/** The same of a payment whose outcome the error does not know either. */
const OPEN_SECONDS = 5;

/**
 * When to ask again, and whether a client may do so by itself. OpenAI's clients retry 408, 409, 429 and 5xx unless
 * `x-should-retry` says no, and an x402 client below them pays for each retry anew: so it does wherever the payment in hand
 * is not known to be unused. Where nothing was charged a client does as it is used to.
 */
export function retryHeaders(
  { code, facts }: { readonly code: ErrorCode; readonly facts: JsonObject },
  pays: boolean,
): Record<string, string> {
  const { retry_after_seconds: asked, charged } = facts;
  const left = leaves(code, charged, pays);
  const known = typeof asked === 'number' ? asked : retryAfterSeconds[code];
  const wait = known ?? (left === 'open' ? OPEN_SECONDS : undefined);
  return {
    ...(wait === undefined ? {} : { 'retry-after': String(Math.ceil(wait)) }),
    ...(left === 'unused' ? {} : { 'x-should-retry': 'false' }),
  };
}
