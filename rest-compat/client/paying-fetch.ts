import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http';
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { REDELIVERY_HEADER, readRedeliveryText, redeliveryText } from '../../schema/redeliver-header.ts';
import { type KeptPayment, KeptPayments, nameOf, nowSeconds, paymentIdOf, unlessAborted } from './kept-payments.ts';
import { type PaymentProblem, type PaymentStanding, standingOf, waitMs } from './standing.ts';

type Fetch = typeof fetch;

export interface Buyer {
  /** Signs a payment for what a 402 asks for: x402's `x402Client` is one, with its schemes (v1, v2) and its own bounds. */
  readonly payments: { createPaymentPayload(required: PaymentRequired): Promise<PaymentPayload> };
  /** Signs a text with the paying wallet (EIP-191), where the service wants to know that it is its payer who asks. */
  signText?(text: string): Promise<string>;
  readonly fetch?: Fetch;
  /** For so long it is asked what became of a payment; the longest that an official client's is valid, unless given. */
  readonly patience_ms_max?: number;
  /** Payments of former `PaymentPending`: shown again for the requests that they were signed for. */
  readonly kept?: Iterable<KeptPayment>;
}

/**
 * What became of the payment is not known yet. The same request by the same fetch asks again, with the same payment.
 * Printed and as JSON it shows what may stand in a log: until `valid_before` whoever holds the payment can spend it.
 */
export class PaymentPending extends Error {
  override name = 'PaymentPending';
  readonly #payment: KeptPayment;
  /** What was answered last; null where no answer came. */
  readonly problem: PaymentProblem | null;

  constructor(payment: KeptPayment, problem: PaymentProblem | null, cause?: unknown) {
    super('What became of the payment is not known yet: send the same payment again, do not sign another one.', {
      cause,
    });
    this.#payment = payment;
    this.problem = problem;
  }

  /** Plain data with the signed header: keep it as a secret, and give it to a later fetch as one of `kept`. */
  get payment(): KeptPayment {
    return this.#payment;
  }

  toJSON(): object {
    const { name, message, problem } = this;
    const { request, valid_before } = this.#payment;
    return { name, message, request, valid_before, problem };
  }
}

const PATIENCE_MS = 300_000;
/** Once patience is over each call asks once, and waits this long. */
const ASKED_MS = 60_000;
const TRIES_MAX = 100;

/**
 * A fetch that pays each request once. The payment that it has signed is kept until its outcome is known: meanwhile every
 * try of the same request (its own, or a client's above it that retries, also after a time-out) shows the same one, and
 * none is signed beside it. Make one for each wallet and keep it: what it knows lies in its memory.
 */
export function payingFetch(buyer: Buyer): Fetch {
  const { fetch: by = fetch, patience_ms_max = PATIENCE_MS } = buyer;
  const kept = new KeptPayments(buyer.kept ?? []);
  const until_ms = new WeakMap<KeptPayment, number>();
  const signed = async (offers: readonly PaymentRequired[], request: string): Promise<KeptPayment> => {
    const payment = paymentOf(await sign(offers, buyer), request);
    kept.keep(payment);
    until_ms.set(payment, performance.now() + patience_ms_max);
    return payment;
  };
  return async (input, init) => {
    const request = new Request(input, init);
    if (request.headers.has('PAYMENT-SIGNATURE') || request.headers.has('X-PAYMENT')) return by(request);
    const name = await nameOf(request);
    for (;;) {
      const unpaid = kept.of(name) ? null : await by(request.clone());
      const offers = unpaid && (await offersIn(unpaid));
      if (unpaid && !offers) return unpaid;
      const answer = await kept.inTurn(name, request.signal, async () => {
        const known = kept.of(name);
        const payment = known ?? (offers && (await signed(offers, name)));
        if (!payment) return null;
        const heard = await ask(payment, request, buyer, until_ms.get(payment) ?? 0);
        if (heard.standing === 'known') kept.forget(payment);
        // One of an earlier try that was not taken: this one is to be paid for.
        if (known && heard.answer.status === 402) return null;
        return readOrKept(heard.answer, () => kept.keep(payment));
      });
      if (answer) return answer;
    }
  };
}

/** What a 402 asks for, in the newer version first; null where it is no x402. */
async function offersIn(answer: Response): Promise<PaymentRequired[] | null> {
  if (answer.status !== 402) return null;
  const header = answer.headers.get('PAYMENT-REQUIRED');
  const body = (await answer
    .clone()
    .json()
    .catch(() => null)) as PaymentRequired | null;
  const offers = [...(header ? [decodePaymentRequiredHeader(header)] : []), ...(body?.x402Version === 1 ? [body] : [])];
  if (offers.length === 0) return null;
  await answer.body?.cancel();
  return offers;
}

/** @throws what x402's client says, where it pays none of them: of the newest version, if it speaks none. */
async function sign(offers: readonly PaymentRequired[], { payments }: Buyer): Promise<PaymentPayload> {
  const faults: unknown[] = [];
  for (const offer of offers) {
    try {
      return await payments.createPaymentPayload(offer);
    } catch (fault) {
      if (!speaksAnother(fault)) throw fault;
      faults.push(fault);
    }
  }
  throw faults[0];
}

const speaksAnother = (fault: unknown): boolean =>
  fault instanceof Error && fault.message.startsWith('No client registered for x402 version');

function paymentOf(payload: PaymentPayload, request: string): KeptPayment {
  const { authorization } = payload.payload as { authorization?: { validBefore?: unknown } };
  return {
    request,
    header: [payload.x402Version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE', encodePaymentSignatureHeader(payload)],
    // A transaction of Solana's lives by its blockhash, which is over sooner.
    valid_before: Number(authorization?.validBefore) || nowSeconds() + PATIENCE_MS / 1_000,
  };
}

interface Heard {
  readonly standing: 'known' | 'open';
  readonly answer: Response;
}

/** Shows the payment until it is told what became of it, or that nothing did. @throws PaymentPending */
async function ask(payment: KeptPayment, request: Request, buyer: Buyer, until_ms: number): Promise<Heard> {
  const paid = request.clone();
  paid.headers.set(...payment.header);
  for (let tries = 1; ; tries++) {
    const { answer, fault, told } = await send(paid, buyer, Math.max(until_ms - performance.now(), ASKED_MS));
    const { standing, problem, payer_proof } = told;
    const proven = payer_proof !== undefined && (await proves(paid, payment, buyer, payer_proof));
    if (answer && standing !== 'pending' && !proven) return { standing, answer };
    // One that broke off cannot be cancelled any more, and a stalled one is not waited for.
    answer?.body?.cancel().catch(() => {});
    const wait_ms = waitMs(answer);
    if (tries >= TRIES_MAX || performance.now() + wait_ms > until_ms) throw new PaymentPending(payment, problem, fault);
    await unlessAborted(new Promise(resolve => setTimeout(resolve, wait_ms)), request.signal);
  }
}

/** Where no answer came the payment may have been taken all the same. */
const silence: PaymentStanding = { standing: 'pending', problem: null };

interface Sent {
  readonly answer?: Response;
  /** What broke where no answer came. */
  readonly fault?: unknown;
  readonly told: PaymentStanding;
}

/** What an answer says of the payment is read within the same time as the answer. @throws where the caller gave up. */
async function send(request: Request, { fetch: by = fetch }: Buyer, wait_ms: number): Promise<Sent> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('no answer came')), wait_ms);
  try {
    const signal = AbortSignal.any([request.signal, late.signal]);
    // Sent on to somebody else, the payment would buy them what they like.
    const answer = await by(new Request(request.clone(), { signal, redirect: 'manual' }));
    const told = await standingOf(answer, signal);
    request.signal.throwIfAborted();
    return { answer, told };
  } catch (fault) {
    request.signal.throwIfAborted();
    return { fault, told: silence };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Once: a signature that did not do will not do the next time. Never another text than that of this payment, or whoever
 * is paid could have the wallet sign anything.
 */
async function proves(
  request: Request,
  payment: KeptPayment,
  { signText }: Buyer,
  { text }: PayerProof,
): Promise<boolean> {
  if (!signText || request.headers.has(REDELIVERY_HEADER)) return false;
  const wanted = readRedeliveryText(text);
  if (wanted === null || wanted.payment_id.toLowerCase() !== (await paymentIdOf(payment))) return false;
  request.headers.set(REDELIVERY_HEADER, `${wanted.at_seconds}:${await signText(redeliveryText(wanted))}`);
  return true;
}

/** As the service's own errors have it: the outcome is open, or the payment brings the work again. In what a model says the quotes are escaped. */
const BROKEN_OFF = /"code":"settlement_pending"|"reruns_left":[1-9]/;
/** The last word of a stream, at which its clients break off by themselves: all that its payment brings is there. */
const ENDED = /^data: \[DONE\]$|"code":"(?:hub_broke_off|stream_cut_off)"/m;
const END_CHARS = 2_000;

type PayerProof = NonNullable<PaymentProblem['payer_proof']>;

/**
 * An answer that breaks off has been paid for: the payment is kept, and the next try of the request asks for it again. A
 * stream may do so in words, in its last event.
 */
function readOrKept(answer: Response, keep: () => unknown): Response {
  const reader = answer.ok ? answer.body?.getReader() : undefined;
  if (!reader) return answer;
  const decoder = new TextDecoder();
  let end = '';
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch(fault => {
        if (!ENDED.test(end)) keep();
        throw fault;
      });
      if (done) return controller.close();
      end = (end + decoder.decode(value, { stream: true })).slice(-END_CHARS);
      // At once: a client that has read the error reads no further.
      if (BROKEN_OFF.test(end)) keep();
      controller.enqueue(value);
    },
    cancel: reason => reader.cancel(reason),
  });
  const { status, statusText, headers, url } = answer;
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', { value: url });
}
