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

/** A payment of a job, as `GET /v1/board/jobs/{id}` names it. */
interface JobLeg {
  readonly leg: string;
  readonly pay_to: string | null;
  readonly amount: string;
}

/**
 * Pays what is asked for in two (POST /v1/board/jobs/{id}/pay): to whom it is owed, then the fee. Each payment is kept until
 * its outcome is known, as `payingFetch` does; the answer is that to the last of them. x402's client signs no more than a dollar
 * by itself: its bound is raised for a payment that the job itself names, and for that one alone.
 * @throws PaymentPending, BeyondLimit
 */
export async function payLegs(buyer: LegsBuyer, ...asked: Parameters<typeof fetch>): Promise<Response> {
  const request = new Request(...asked);
  const named = await legsNamed(request, buyer);
  const pay = payingFetch({ ...buyer, payments: bounded(buyer, named) });
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

/** What the job says that it costs; nothing where it cannot be read, or its first payment is not its price. */
async function legsNamed({ url, headers, signal }: Request, { fetch: by = fetch }: Buyer): Promise<readonly JobLeg[]> {
  const job_url = /^(.+)\/pay$/.exec(url)?.[1];
  if (job_url === undefined) return [];
  // A hidden job is shown to its parties alone.
  const session = headers.get('X-SVC-Session');
  const shown = { signal, redirect: 'error', ...(session && { headers: { 'X-SVC-Session': session } }) } as const;
  const answer = await by(job_url, shown).catch(() => null);
  const job = answer?.ok
    ? ((await answer.json().catch(() => null)) as { price?: unknown; legs?: unknown } | null)
    : null;
  signal.throwIfAborted();
  const legs = (Array.isArray(job?.legs) ? job.legs : []) as readonly JobLeg[];
  const winner = legs.find(({ leg }) => leg === 'winner');
  return winner !== undefined && winner.amount === job?.price ? legs : [];
}

function isNamed(offer: Offer, named: readonly JobLeg[]): boolean {
  return named.some(
    ({ pay_to, amount }) => pay_to !== null && isSame(pay_to, offer.payTo) && amount === String(amountOf(offer)),
  );
}

/** How x402's client bounds what it signs for at once; it has no other way to be asked for it. */
interface SpendControls {
  readonly allowedAssets?: true | readonly { readonly asset: string; readonly network: string }[];
}
type Bounded = Buyer['payments'] & {
  readonly spendControls: SpendControls | false;
  setSpendControls(controls: object): unknown;
};

/** The same client, but for its bound: that of the amount of this offer. One that has none, or is another's, is left as it is. */
function raisedFor(offer: Offer, payments: Buyer['payments']): Buyer['payments'] {
  const own = payments as Partial<Bounded>;
  if (typeof own.setSpendControls !== 'function' || !own.spendControls) return payments;
  const { asset, network } = offer;
  const { allowedAssets = [] } = own.spendControls;
  const raised = Object.assign(Object.create(Object.getPrototypeOf(payments)), payments) as Bounded;
  // Where any asset is allowed none has a bound of its own.
  if (allowedAssets === true) raised.setSpendControls({ ...own.spendControls, maxAmountPerPayment: false });
  else {
    const others = allowedAssets.filter(it => it.network !== network || it.asset.toLowerCase() !== asset.toLowerCase());
    const entry = { asset, network, maxAmountPerPayment: String(amountOf(offer)) };
    raised.setSpendControls({ ...own.spendControls, allowedAssets: [entry, ...others] });
  }
  return raised;
}

function bounded({ payments, amount_atomic_max, payees }: LegsBuyer, named: readonly JobLeg[]): Buyer['payments'] {
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
      const client = isNamed(offer, named) ? raisedFor(offer, payments) : payments;
      const payload = await client.createPaymentPayload({ ...required, accepts: [offer] });
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
