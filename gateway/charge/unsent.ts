import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import type { NotSent } from '../rails/outcome.ts';

const codes: Record<NotSent['reason'], ErrorCode> = {
  chain_unavailable: 'chain_unavailable',
  facilitator_unavailable: 'facilitator_unavailable',
  fee_too_high: 'fee_too_high',
  price_unknown: 'unavailable',
  out_of_gas: 'unavailable',
  claim_lost: 'unavailable',
  journal_failed: 'unavailable',
  stopped: 'unavailable',
};

/** What a caller hears of a payment that never left this process. */
export function unsent(reason: NotSent['reason']): Refusal {
  return new Refusal(codes[reason], { facts: { charged: false } });
}
