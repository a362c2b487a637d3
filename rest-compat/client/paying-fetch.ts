import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http';
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { REDELIVERY_HEADER } from '../../schema/redelivery.ts';

type Fetch = typeof fetch;

export interface Buyer {
  /** Signs a payment for what a 402 asks for: x402's `x402Client` is one, with its schemes and its own bounds. */
  readonly payments: { createPaymentPayload(required: PaymentRequired): Promise<PaymentPayload> };
  /** Signs a text with the paying wallet (EIP-191), where the service wants to know that it is its payer who asks. */
  signText?(text: string): Promise<string>;
  readonly fetch?: Fetch;
  /** For so long it is asked again what became of a payment; the longest that an official client's is valid, unless given. */
  readonly patience_ms_max?: number;
}

const PATIENCE_MS = 300_000;
const PAUSE_MS = 1_000;

/** What says that the same payment is to be sent again: it is on its way, or nobody knows yet. */
const unknown: ReadonlySet<string> = new Set(['settlement_pending', 'payment_in_flight', 'unavailable']);

/**
 * A fetch that pays once. It keeps the payment that it has signed until its outcome is known: while that is open it sends
 * the same one again, never another, also where no answer came at all; and where the service doubts that its payer asks,
 * it says so with the payer's signature. What is still open when its patience ends is the last answer.
 */
export function payingFetch(buyer: Buyer): Fetch {
  const { payments, fetch: send = fetch, patience_ms_max = PATIENCE_MS } = buyer;
  return async (input, init) => {
    const request = new Request(input, init);
    const first = await send(request.clone());
    const offer = first.status === 402 ? first.headers.get('PAYMENT-REQUIRED') : null;
    if (offer === null) return first;
    await first.body?.cancel();
    const payload = await payments.createPaymentPayload(decodePaymentRequiredHeader(offer));
    request.headers.set('PAYMENT-SIGNATURE', encodePaymentSignatureHeader(payload));
    const until_ms = performance.now() + patience_ms_max;
    for (;;) {
      const answer = await send(request.clone()).catch(fault => unanswered(fault, request.signal, until_ms));
      const again = answer === null ? PAUSE_MS : await askAgainIn(answer, request, buyer);
      if (answer && (again === null || performance.now() + again > until_ms)) return answer;
      await pause(again ?? PAUSE_MS, request.signal);
    }
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** Nothing came back: whatever became of the payment, it is asked for by the same one. */
function unanswered(fault: unknown, signal: AbortSignal, until_ms: number): null {
  if (signal.aborted || performance.now() > until_ms) throw fault;
  return null;
}

/** In how many milliseconds the same payment is to be sent again; null where this is the answer. */
async function askAgainIn(answer: Response, request: Request, { signText }: Buyer): Promise<number | null> {
  if (answer.status !== 409 && answer.status !== 503) return null;
  const problem = await problemOf(answer);
  if (problem.code === 'payer_proof_required') {
    const { text, value } = problem.payer_proof ?? {};
    // Asked for once: a signature that did not do will not do the next time.
    if (!signText || !text || !value || request.headers.has(REDELIVERY_HEADER)) return null;
    request.headers.set(REDELIVERY_HEADER, value.replace('<signature>', await signText(text)));
    return 0;
  }
  if (!unknown.has(problem.code ?? '')) return null;
  return Number(answer.headers.get('Retry-After') ?? 0) * 1_000 || PAUSE_MS;
}

interface Problem {
  readonly code?: string;
  readonly payer_proof?: { readonly text?: string; readonly value?: string };
}

async function problemOf(answer: Response): Promise<Problem> {
  try {
    return (await answer.clone().json()) as Problem;
  } catch {
    return {};
  }
}
