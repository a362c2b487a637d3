import { Refusal } from '../../schema/errors.ts';
import { railOf } from '../rails/rail.ts';
import { rejected } from './authorized.ts';
import type { Presented } from './claim-request.ts';
import { chainUnreachable } from './spent-elsewhere.ts';
import type { Till } from './till.ts';

/** Whether a payment is its payer's, where its signature alone does not say so. */
export type Proof =
  | { readonly kind: 'proven' }
  /** `reason` is x402's own word. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** Too many such payments want to be proven. */
  | { readonly kind: 'no_turn'; readonly retry_after_seconds: number }
  | { readonly kind: 'unreachable'; readonly cause: unknown };

export const PROVEN: Proof = { kind: 'proven' };

/** Nothing is said of the payment, which stays usable; nor of money, for the same payment may have bought something before. */
export function noTurn(retry_after_seconds: number): Refusal {
  return new Refusal('unavailable', {
    detail: 'Too many payments that only a contract can vouch for are waiting. Send this one again.',
    facts: { retry_after_seconds },
  });
}

/** @throws payment_rejected, unavailable, chain_unavailable */
export async function requireProven(
  till: Till,
  { paid, payment }: Pick<Presented, 'paid' | 'payment'>,
  address: string,
): Promise<void> {
  const proof = await railOf(till, payment.authorization.network).prove(payment, address);
  switch (proof.kind) {
    case 'proven':
      return;
    case 'rejected':
      throw rejected(till, paid, proof.reason);
    case 'no_turn':
      throw noTurn(proof.retry_after_seconds);
    case 'unreachable':
      throw chainUnreachable(proof.cause);
  }
}
