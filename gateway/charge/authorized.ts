import { errors, Refusal } from '../../schema/errors.ts';
import type { Context } from '../../subgraphs/context.ts';
import { orders } from '../../subgraphs/sale.ts';
import type { Payment } from '../rails/payment.ts';
import { type Late, verifyPayment } from '../rails/verify.ts';
import type { AnyPaid } from '../record/recorder.ts';
import type { ChallengeReason } from '../x402/offer.ts';
import type { Till } from './till.ts';

/** A payment that our own checks found right. A signature that is no key's is not proven by them: code has to be asked. */
export type Authorized<P extends Payment = Payment> = P & {
  readonly x402_version: 1 | 2;
  /** Why it is settled no more, with x402's word for it; what it has bought already is owed all the same. */
  readonly late: { readonly code: Late; readonly reason: string } | null;
};

/** Reads the payment that came with the call. @throws payment_required, payment_rejected: each with the offer. */
export async function authorized(till: Till, paid: AnyPaid, context: Context): Promise<Authorized> {
  if (context.payment === null) throw required(till, paid, context);
  const { x402_version } = context.payment;
  const offered = {
    amount_atomic: paid.price_atomic,
    networks: paid.networks,
    pay_to: till.pay_to,
    validity_seconds_min: orders[paid.order].validity_seconds_min,
    now_ms: till.clock.now_ms(),
  };
  const verified = await verifyPayment(context.payment, offered, till.rails);
  switch (verified.kind) {
    case 'refused':
      throw rejected(till, paid, verified.reason);
    case 'late': {
      const { code, reason, ...payment } = verified;
      return { ...payment, x402_version, late: { code, reason } };
    }
    case 'verified':
      return { ...verified, x402_version, late: null };
  }
}

/** Whoever sent a key that is nobody's is told so, with the same offer. */
function required(till: Till, paid: AnyPaid, { principal }: Context): Refusal {
  if (principal.api_key.kind !== 'unknown') return new Refusal('payment_required', { facts: offer(till, paid, null) });
  const reason = { code: 'unknown_api_key', detail: errors.unknown_api_key[1] } as const;
  return new Refusal('unknown_api_key', { facts: offer(till, paid, reason) });
}

/** `reason` is x402's own word; the payment may be mended or another one made: nothing was charged. */
export function rejected(till: Till, paid: AnyPaid, reason: string): Refusal {
  const offered = offer(till, paid, { code: 'payment_rejected', detail: reason });
  return new Refusal('payment_rejected', { detail: reason, facts: { charged: false, ...offered } });
}

/** The offer as /graphql hands it out; a REST door makes its own, which names the door. */
function offer(till: Till, paid: AnyPaid, reason: ChallengeReason) {
  const price = {
    amount_atomic: paid.price_atomic,
    networks: paid.networks,
    stamp: paid.order === 'stamp',
    resource: `${till.base_url}/graphql`,
    description: paid.field,
  };
  const { headers, body } = till.challenges(price, reason);
  return { answer_headers: headers, x402: body };
}
