import { railOf } from '../rails/rail.ts';
import type { Presented } from './claim-request.ts';
import { hearsOf } from './hears.ts';
import type { Till } from './till.ts';

/** @throws payment_rejected, unavailable, chain_unavailable */
export async function requireProven(
  till: Till,
  { paid, payment }: Pick<Presented, 'paid' | 'payment'>,
  address: string,
): Promise<void> {
  const proof = await railOf(till, payment.authorization.network).prove(payment, address);
  if (proof.kind !== 'proven') throw hearsOf(till, paid, proof);
}
