import type { Hex } from '../../gateway/rails/base/abi.ts';
import { newPayer, signAuthorization } from './authorizations.ts';
import { paymentHeader } from './payments.ts';

/** Complete PAYMENT-SIGNATURE headers in the names of that many wallets, which did not sign them. */
export function forgedPayments(count: number, wallets: number, pay_to: Hex): string[] {
  const forger = newPayer();
  const named = Array.from({ length: wallets }, () => newPayer().address);
  return Array.from({ length: count }, (_, index) => {
    const { authorization, signature } = signAuthorization(forger, pay_to);
    const payer = named[index % wallets] as Hex;
    return paymentHeader({ authorization: { ...authorization, payer }, signature });
  });
}
