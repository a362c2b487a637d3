import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { type Buyer, payingFetch } from './paying-fetch.ts';

export interface LegsBuyer extends Buyer {
  /** Atomic units that all payments which are signed for the request come to at most. */
  readonly amount_atomic_max: bigint;
  /** Whom it pays, as a job names them: an offer to anybody else is not signed for. */
  readonly payees: readonly string[];
}

/** What is asked for is more than may be paid, or for somebody who was not named. */
export class BeyondLimit extends Error {
  override name = 'BeyondLimit';
}

const LEGS_MAX = 2;

/**
 * Pays what is asked for in two (POST /v1/board/jobs/{id}/pay): to whom it is owed, then the fee. Each payment is kept until
 * its outcome is known, as `payingFetch` does; the answer is that to the last of them. @throws PaymentPending, BeyondLimit
 */
export async function payLegs(buyer: LegsBuyer, ...asked: Parameters<typeof fetch>): Promise<Response> {
  const request = new Request(...asked);
  const pay = payingFetch({ ...buyer, payments: bounded(buyer) });
  for (let legs = 1; ; legs++) {
    const answer = await pay(request.clone());
    if (legs === LEGS_MAX || answer.status !== 402 || !hasMoved(answer)) return answer;
    await answer.body?.cancel();
  }
}

/** A 402 beside a payment that has moved asks for the one that is still to come, and for no other in its place. */
function hasMoved({ headers }: Response): boolean {
  return headers.has('PAYMENT-RESPONSE') || headers.has('X-PAYMENT-RESPONSE');
}

type Offer = PaymentRequired['accepts'][number];

function bounded({ payments, amount_atomic_max, payees }: LegsBuyer): Buyer['payments'] {
  let signed_atomic = 0n;
  return {
    async createPaymentPayload(required: PaymentRequired): Promise<PaymentPayload> {
      const left_atomic = amount_atomic_max - signed_atomic;
      // A leg is offered on one network alone.
      const offer = required.accepts.find(
        ({ payTo, ...terms }) => payees.some(payee => isSame(payee, payTo)) && amountOf(terms) <= left_atomic,
      );
      if (!offer)
        throw new BeyondLimit('What is asked for is beyond what may be paid, or for a payee who was not named.');
      const payload = await payments.createPaymentPayload({ ...required, accepts: [offer] });
      signed_atomic += amountOf(offer);
      return payload;
    },
  };
}

/** In v1 it is called otherwise. */
function amountOf(offer: Pick<Offer, 'amount'> & { readonly maxAmountRequired?: string }): bigint {
  const { amount, maxAmountRequired = amount } = offer;
  return BigInt(maxAmountRequired);
}

/** EIP-55 spells an address of Base in more than one way; Solana's are what they are. */
function isSame(one: string, other: string): boolean {
  return one.startsWith('0x') ? one.toLowerCase() === other.toLowerCase() : one === other;
}
