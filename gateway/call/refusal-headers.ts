import { retryHeaders } from '../../rest-compat/problem.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, paymentStateAfter } from '../../schema/errors.ts';
import type { Context } from '../../subgraphs/context.ts';
import { paymentNameIn } from '../rails/named-payment.ts';
import { settlementHeaders } from '../x402/payment-header.ts';

interface Refused {
  readonly code: ErrorCode;
  readonly facts: JsonObject;
}

type Answering = Pick<Context, 'payment' | 'response'>;

/** Headers of a refusal about the payment that came with its request: none if it is known to be unused. */
export function refusalHeaders(context: Answering, refused: Refused | undefined): Record<string, string> {
  if (!refused || context.payment === null) return {};
  const { code, facts } = refused;
  const left = paymentStateAfter(code, facts.charged, true);
  if (left === 'unused') return {};
  const outcome = left === 'open' ? outcomeOpen(context, facts.transaction) : {};
  return { ...retryHeaders(refused, true), ...outcome };
}

/**
 * Reports an unknown outcome: x402's code for it is not a refusal, so that nobody signs another payment. `transaction` is the one
 * that was sent for it, if any.
 */
function outcomeOpen({ payment, response }: Answering, transaction: unknown): Record<string, string> {
  const named = payment && paymentNameIn(payment);
  const told = 'PAYMENT-RESPONSE' in response.headers || 'X-PAYMENT-RESPONSE' in response.headers;
  if (!named || told) return {};
  const { network, payer } = named;
  const sent = typeof transaction === 'string' ? transaction : '';
  const answer = { success: false, error_reason: 'settlement_pending', transaction: sent, network, payer };
  return settlementHeaders(payment.x402_version, answer);
}
