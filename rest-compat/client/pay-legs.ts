import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { type Buyer, payingFetch } from './paying-fetch.ts';

export interface LegsBuyer extends Buyer {
  /** Most that all payments for the request may sum up to, in atomic units. */
  readonly amount_atomic_max: bigint;
  /** Addresses that may be paid, as the job's `legs` name them; an offer for another payee is not signed. */
  readonly payees: readonly string[];
}

/** The request costs more than allowed, or names another payee. */
export class BeyondLimit extends Error {
  override name = 'BeyondLimit';
}

const LEGS_MAX = 2;

/** A payment of a job, as `GET /v1/board/jobs/{id}` shows it. */
interface JobLeg {
  readonly leg: string;
  readonly pay_to: string | null;
  readonly amount: string;
}

/**
 * Makes both payments of POST /v1/board/jobs/{id}/pay: to the payee, then the fee. Each payment is kept until its
 * outcome is known, as in `payingFetch`; the result is the response to the last one. x402's client signs at most 1
 * USD by itself: that bound is raised only for a payment that the job names. @throws PaymentPending, BeyondLimit
 */
export async function payLegs(buyer: LegsBuyer, ...args: Parameters<typeof fetch>): Promise<Response> {
  const request = new Request(...args);
  const named = await fetchLegs(request, buyer);
  const pay = payingFetch({ ...buyer, payments: limitPayments(buyer, named) });
  for (let legs = 1; ; legs++) {
    const answer = await pay(request.clone());
    if (legs === LEGS_MAX || answer.status !== 402 || !hasSettled(answer)) return answer;
    await answer.body?.cancel();
  }
}

/** A 402 beside a settled payment asks for the remaining one, not for a replacement. */
function hasSettled({ headers }: Response): boolean {
  return headers.has('PAYMENT-RESPONSE') || headers.has('X-PAYMENT-RESPONSE');
}

type Offer = PaymentRequired['accepts'][number];

/** The payments that the job names; none if it cannot be read, or its first payment differs from its price. */
async function fetchLegs({ url, headers, signal }: Request, { fetch: by = fetch }: Buyer): Promise<readonly JobLeg[]> {
  const job_url = /^(.+)\/pay$/.exec(url)?.[1];
  if (job_url === undefined) return [];
  // A hidden job is shown to its parties only.
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

/** The bound of x402's client per payment; it has no public type for it. */
interface SpendControls {
  readonly allowedAssets?: true | readonly { readonly asset: string; readonly network: string }[];
}
type BoundedClient = Buyer['payments'] & {
  readonly spendControls: SpendControls | false;
  setSpendControls(controls: object): unknown;
};

/** The same client with its bound raised to the amount of this offer. A client without a bound is left as it is. */
function raiseBound(offer: Offer, payments: Buyer['payments']): Buyer['payments'] {
  const own = payments as Partial<BoundedClient>;
  if (typeof own.setSpendControls !== 'function' || !own.spendControls) return payments;
  const { asset, network } = offer;
  const { allowedAssets = [] } = own.spendControls;
  const raised = Object.assign(Object.create(Object.getPrototypeOf(payments)), payments) as BoundedClient;
  // If any asset is allowed, none has a bound of its own.
  if (allowedAssets === true) raised.setSpendControls({ ...own.spendControls, maxAmountPerPayment: false });
  else {
    const others = allowedAssets.filter(it => it.network !== network || it.asset.toLowerCase() !== asset.toLowerCase());
    const entry = { asset, network, maxAmountPerPayment: String(amountOf(offer)) };
    raised.setSpendControls({ ...own.spendControls, allowedAssets: [entry, ...others] });
  }
  return raised;
}

function limitPayments(
  { payments, amount_atomic_max, payees }: LegsBuyer,
  named: readonly JobLeg[],
): Buyer['payments'] {
  let signed_atomic = 0n;
  return {
    async createPaymentPayload(required: PaymentRequired): Promise<PaymentPayload> {
      const left_atomic = amount_atomic_max - signed_atomic;
      // Each payment is offered on one network only.
      const offer = required.accepts.find(
        ({ payTo, ...terms }) => payees.some(payee => isSame(payee, payTo)) && amountOf(terms) <= left_atomic,
      );
      if (!offer)
        throw new BeyondLimit(
          'The request costs more than amount_atomic_max allows, or pays an address that payees does not name.',
        );
      const client = isNamed(offer, named) ? raiseBound(offer, payments) : payments;
      const payload = await client.createPaymentPayload({ ...required, accepts: [offer] });
      signed_atomic += amountOf(offer);
      return payload;
    },
  };
}

/** v1 has another member name. */
function amountOf(offer: Pick<Offer, 'amount'> & { readonly maxAmountRequired?: string }): bigint {
  const { amount, maxAmountRequired = amount } = offer;
  return BigInt(maxAmountRequired);
}

/** Addresses on Base differ in case (EIP-55); those on Solana do not. */
function isSame(one: string, other: string): boolean {
  return one.startsWith('0x') ? one.toLowerCase() === other.toLowerCase() : one === other;
}
