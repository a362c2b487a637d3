import type { PresentedPayment } from '../../subgraphs/context.ts';
import type { PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import { isStored } from '../rails/base/signature.ts';
import { paymentFromJson } from '../rails/payment.ts';
import { verifyPayment } from '../rails/verify.ts';
import { payeesOf, type VerifyParts } from './verify-payment.ts';

export type IsSigned = (claim: PaymentClaim, shown: PresentedPayment) => Promise<boolean>;

/**
 * Whether a recorded payment is shown with its payer's signature, judged as it was claimed, whatever is requested now. A
 * signature that only code can judge must equal the claimed one.
 */
export function openIsSigned(parts: Pick<VerifyParts, 'rails' | 'pay_to' | 'clock'>): IsSigned {
  return async ({ authorization }, shown) => {
    const { network, pay_to, amount_atomic } = paymentFromJson(authorization).authorization;
    const asked = {
      networks: [network],
      pay_to: payeesOf({ pay_to, networks: [network] }, parts.pay_to),
      amount_atomic,
    };
    const offered = { ...asked, validity_seconds_min: 0, now_ms: parts.clock.now_ms() };
    const judged = await verifyPayment(shown, offered, parts.rails);
    if (judged.kind === 'refused') return false;
    return judged.signature.kind !== 'contract' || isStored(authorization.signature, judged.signature);
  };
}
