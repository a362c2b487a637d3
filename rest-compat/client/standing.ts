import { decodePaymentResponseHeader } from '@x402/core/http';
import { unlessAborted } from './kept-payments.ts';

/** As far as a payer reads it: RFC 9457, and the facts beside it. */
export interface PaymentProblem {
  readonly code?: string;
  readonly detail?: string;
  /** Null while the service does not know. */
  readonly charged?: boolean | null;
  /** Of payer_proof_required: the text to be signed, and the header's value with a place for the signature. */
  readonly payer_proof?: { readonly text: string; readonly value: string };
}

/**
 * What an answer says of the payment that was shown: `known`, it has bought this, or never will; `pending`, it is to be
 * shown again; `open`, the answer is the caller's to act on, and a further try is with this payment.
 */
export interface PaymentStanding {
  readonly standing: 'known' | 'pending' | 'open';
  readonly problem: PaymentProblem | null;
  readonly payer_proof?: PaymentProblem['payer_proof'];
}

/** Statuses of a server or proxy that has not come to the payment, or does not say. */
const transient = new Set([408, 425, 429]);

/** `until`: when it aborts, what has not come by then says nothing. */
export async function standingOf(answer: Response, until: AbortSignal): Promise<PaymentStanding> {
  const { status, ok, headers } = answer;
  const problem = ok ? null : await problemOf(answer, until);
  if (isPending(headers)) return { standing: 'pending', problem };
  // On /graphql refusals are 200 too.
  if (ok) return { standing: headers.get('x-should-retry') === 'false' ? 'open' : 'known', problem };
  if (status === 402) return { standing: 'known', problem };
  const { code, charged, payer_proof } = problem ?? {};
  if (code === 'payer_proof_required') return { standing: 'open', problem, payer_proof };
  // In a browser the header may be out of sight.
  if (code === 'payment_in_flight' || charged === null) return { standing: 'pending', problem };
  if (status >= 500 || transient.has(status)) return { standing: charged === false ? 'open' : 'pending', problem };
  // Most faults of a request are found without a look at its payment, which may have bought this before.
  return { standing: code !== undefined && charged === false ? 'known' : 'open', problem };
}

/** x402's own word, whatever the status. */
function isPending(headers: Headers): boolean {
  const header = headers.get('PAYMENT-RESPONSE') ?? headers.get('X-PAYMENT-RESPONSE');
  try {
    return header !== null && decodePaymentResponseHeader(header).errorReason === 'settlement_pending';
  } catch {
    return false;
  }
}

/** What is longer is no problem document. */
const PROBLEM_BYTES_MAX = 65_536;

/** Null where there is none, or it does not come whole in time. */
async function problemOf(answer: Response, until: AbortSignal): Promise<PaymentProblem | null> {
  const reader = answer.clone().body?.getReader();
  if (!reader) return null;
  try {
    return JSON.parse(await unlessAborted(textOf(reader), until)) as PaymentProblem;
  } catch {
    return null;
  } finally {
    // It ends with the other half of the answer, which is the caller's.
    reader.cancel().catch(() => {});
  }
}

/** @throws where it is too long, or breaks off. */
async function textOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > PROBLEM_BYTES_MAX) throw new RangeError(`more than ${PROBLEM_BYTES_MAX} bytes`);
    text += decoder.decode(value, { stream: true });
  }
}

const PAUSE_MS = 1_000;

/** RFC 9110 10.2.3, in seconds, as it comes with every answer of the service that is to be asked for again. */
export function waitMs(answer: Response | undefined): number {
  return Number(answer?.headers.get('Retry-After') ?? 0) * 1_000 || PAUSE_MS;
}
