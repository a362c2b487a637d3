import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http';
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { REDELIVERY_HEADER, readRedeliveryText, redeliveryText } from '../../schema/redeliver-header.ts';
import {
  awaitUnlessAborted,
  type KeptPayment,
  KeptPayments,
  nameOf,
  nowSeconds,
  paymentIdOf,
} from './kept-payments.ts';
import { type PaymentProblem, type PaymentStanding, standingOf, waitMs } from './standing.ts';

type Fetch = typeof fetch;

export interface Buyer {
  /** Signs a payment for the offers of a 402, such as x402's `x402Client` with its schemes (v1, v2) and bounds. */
  readonly payments: { createPaymentPayload(required: PaymentRequired): Promise<PaymentPayload> };
  /** Signs a text with the paying wallet (EIP-191), if the service requires proof that the payer asks. */
  signText?(text: string): Promise<string>;
  readonly fetch?: Fetch;
  /** Milliseconds to wait for a payment's outcome; default: 300,000, the longest validity in official clients. */
  readonly patience_ms_max?: number;
  /** Payments of earlier `PaymentPending` errors, sent again with the requests that they were signed for. */
  readonly kept?: Iterable<KeptPayment>;
}

/**
 * The outcome of the payment is unknown. The same request with the same fetch sends the same payment again. Printed
 * and as JSON it shows only what may be logged, because the payment can be spent until `valid_before`.
 */
export class PaymentPending extends Error {
  override name = 'PaymentPending';
  readonly #payment: KeptPayment;
  /** The last response; null if there was none. */
  readonly problem: PaymentProblem | null;

  constructor(payment: KeptPayment, problem: PaymentProblem | null, cause?: unknown) {
    super('The outcome of the payment is unknown. Send the same payment again; do not sign another one.', {
      cause,
    });
    this.#payment = payment;
    this.problem = problem;
  }

  /** Plain data with the signed header: store it as a secret, and pass it to a later fetch in `kept`. */
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
/** After the patience is over each call sends the payment once and waits this long. */
const ASKED_MS = 60_000;
const TRIES_MAX = 100;

/**
 * A fetch that pays each request once. It keeps a signed payment until its outcome is known: every retry of the same
 * request, its own or of a client above it, sends the same payment, and none is signed beside it. Keep one for each
 * wallet, because open payments are in its memory.
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
        const shown = await ask(payment, request, buyer, until_ms.get(payment) ?? 0);
        if (shown.standing === 'known') kept.forget(payment);
        // The payment of an earlier try was refused, so this try needs a new one.
        if (known && shown.answer.status === 402) return null;
        return keepIfInterrupted(shown.answer, () => kept.keep(payment));
      });
      if (answer) return answer;
    }
  };
}

/** The offers of a 402, newest version first; null if it is not x402. */
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

/** @throws the error of x402's client for the newest version if it supports none */
async function sign(offers: readonly PaymentRequired[], { payments }: Buyer): Promise<PaymentPayload> {
  const faults: unknown[] = [];
  for (const offer of offers) {
    try {
      return await payments.createPaymentPayload(offer);
    } catch (fault) {
      if (!isUnsupportedVersion(fault)) throw fault;
      faults.push(fault);
    }
  }
  throw faults[0];
}

const isUnsupportedVersion = (fault: unknown): boolean =>
  fault instanceof Error && fault.message.startsWith('No client registered for x402 version');

function paymentOf(payload: PaymentPayload, request: string): KeptPayment {
  const { authorization } = payload.payload as { authorization?: { validBefore?: unknown } };
  return {
    request,
    header: [payload.x402Version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE', encodePaymentSignatureHeader(payload)],
    // A Solana transaction expires earlier, with its blockhash.
    valid_before: Number(authorization?.validBefore) || nowSeconds() + PATIENCE_MS / 1_000,
  };
}

interface PaymentReply {
  readonly standing: 'known' | 'open';
  readonly answer: Response;
}

/** Sends the payment until its outcome is known. @throws PaymentPending */
async function ask(payment: KeptPayment, request: Request, buyer: Buyer, until_ms: number): Promise<PaymentReply> {
  const paid = request.clone();
  paid.headers.set(...payment.header);
  for (let tries = 1; ; tries++) {
    const { answer, fault, state } = await send(paid, buyer, Math.max(until_ms - performance.now(), ASKED_MS));
    const { standing, problem, payer_proof } = state;
    const proven = payer_proof !== undefined && (await addPayerProof(paid, payment, buyer, payer_proof));
    if (answer && standing !== 'pending' && !proven) return { standing, answer };
    // An interrupted response cannot be canceled, and a stalled one is not awaited.
    answer?.body?.cancel().catch(() => {});
    const wait_ms = waitMs(answer);
    if (tries >= TRIES_MAX || performance.now() + wait_ms > until_ms) throw new PaymentPending(payment, problem, fault);
    await awaitUnlessAborted(new Promise(resolve => setTimeout(resolve, wait_ms)), request.signal);
  }
}

/** Without a response the payment may have been used. */
const NO_RESPONSE: PaymentStanding = { standing: 'pending', problem: null };

interface SendResult {
  readonly answer?: Response;
  /** The error, if there was no response. */
  readonly fault?: unknown;
  readonly state: PaymentStanding;
}

/** The payment's state is read within the same time as the response. @throws if the caller aborted */
async function send(request: Request, { fetch: by = fetch }: Buyer, wait_ms: number): Promise<SendResult> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('no response in time')), wait_ms);
  try {
    const signal = AbortSignal.any([request.signal, late.signal]);
    // A redirect would give the payment to another host.
    const answer = await by(new Request(request.clone(), { signal, redirect: 'manual' }));
    const state = await standingOf(answer, signal);
    request.signal.throwIfAborted();
    return { answer, state };
  } catch (fault) {
    request.signal.throwIfAborted();
    return { fault, state: NO_RESPONSE };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Signs the text once, because a refused signature would be refused again. Signs only the text of this payment, or
 * the payee could have the wallet sign anything.
 */
async function addPayerProof(
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

/**
 * In the service's own errors: the outcome is unknown, or the payment pays for another run. Quotes are escaped in
 * model output, so it cannot match.
 */
const BROKEN_OFF = /"code":"settlement_pending"|"reruns_left":[1-9]/;
/**
 * The last event of a stream, after which clients stop reading: everything that was paid for has arrived. Chats end
 * by `[DONE]`, messages and responses by the name of an event, GraphQL by `complete` (GraphQL over SSE). Line breaks
 * are escaped in model output, so it cannot match.
 */
const ENDED =
  /^data: \[DONE\]$|^event: (?:message_stop|response\.(?:completed|incomplete|failed)|complete)$|"code":"(?:hub_broke_off|stream_cut_off)"/m;
/** A2A and MCP say in a message's content whether it is the last one, which their clients check. */
const JSON_RPC = /^data: \{"jsonrpc":/m;
const END_CHARS = 2_000;

type PayerProof = NonNullable<PaymentProblem['payer_proof']>;

/**
 * An interrupted response has been paid for: the payment is kept, and the next try of the request sends it again. A
 * stream may report that in its last event. A proxy may also end a stream as if it were complete (RFC 9112 section
 * 7.1), so one without its last event is interrupted.
 */
function keepIfInterrupted(answer: Response, keep: () => unknown): Response {
  const reader = answer.ok ? answer.body?.getReader() : undefined;
  if (!reader) return answer;
  const { status, statusText, headers, url } = answer;
  const decoder = new TextDecoder();
  let [end, ended] = ['', false];
  let has_last_event = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch(fault => {
        if (!ended) keep();
        throw fault;
      });
      if (done) {
        if (has_last_event && !ended) keep();
        return controller.close();
      }
      const text = end + decoder.decode(value, { stream: true });
      // The payment is kept before the data is passed on, because a client stops reading at the error.
      if (BROKEN_OFF.test(text)) keep();
      ended ||= ENDED.test(text);
      has_last_event &&= !JSON_RPC.test(text);
      end = text.slice(-END_CHARS);
      controller.enqueue(value);
    },
    cancel: reason => reader.cancel(reason),
  });
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', { value: url });
}
