import { decodePaymentResponseHeader } from '@x402/core/http';
import { awaitUnlessAborted } from './kept-payments.ts';

/** The members of a problem document (RFC 9457) that a payer reads. */
export interface PaymentProblem {
  readonly code?: string;
  readonly detail?: string;
  /** Null while the service does not know. */
  readonly charged?: boolean | null;
  /** For payer_proof_required: the text to sign, and the header's value with a placeholder for the signature. */
  readonly payer_proof?: { readonly text: string; readonly value: string };
}

/**
 * The state of a payment by a response: `known`, its outcome is final; `pending`, send it again; `open`, the caller
 * decides, and another try must use this payment.
 */
export interface PaymentStanding {
  readonly standing: 'known' | 'pending' | 'open';
  readonly problem: PaymentProblem | null;
  readonly payer_proof?: PaymentProblem['payer_proof'];
}

/** Statuses of a server or proxy that did not reach the payment, or does not say. */
const transient = new Set([408, 425, 429]);

/** `until`: when it aborts, an incomplete body is ignored. */
export async function standingOf(answer: Response, until: AbortSignal): Promise<PaymentStanding> {
  const { status, ok, headers } = answer;
  const problem = ok ? null : await problemOf(answer, until);
  if (isPending(headers)) return { standing: 'pending', problem };
  // A refusal by /graphql has status 200 too.
  if (ok) return { standing: headers.get('x-should-retry') === 'false' ? 'open' : 'known', problem };
  if (status === 402) return { standing: 'known', problem };
  const { code, charged, payer_proof } = problem ?? {};
  if (code === 'payer_proof_required') return { standing: 'open', problem, payer_proof };
  // The body is read too, because CORS may hide the header in a browser.
  if (code === 'payment_in_flight' || charged === null) return { standing: 'pending', problem };
  if (status >= 500 || transient.has(status)) return { standing: charged === false ? 'open' : 'pending', problem };
  // Most errors of a request are found before its payment is read, which may have been used earlier.
  return { standing: code !== undefined && charged === false ? 'known' : 'open', problem };
}

/** x402's error reason, independent of the status. */
function isPending(headers: Headers): boolean {
  const header = headers.get('PAYMENT-RESPONSE') ?? headers.get('X-PAYMENT-RESPONSE');
  try {
    return header !== null && decodePaymentResponseHeader(header).errorReason === 'settlement_pending';
  } catch {
    return false;
  }
}

/** A problem document is not longer. */
const PROBLEM_BYTES_MAX = 65_536;

/** Null if there is none, or it is not complete in time. */
async function problemOf(answer: Response, until: AbortSignal): Promise<PaymentProblem | null> {
  const reader = answer.clone().body?.getReader();
  if (!reader) return null;
  try {
    return JSON.parse(await awaitUnlessAborted(textOf(reader), until)) as PaymentProblem;
  } catch {
    return null;
  } finally {
    // The clone of the response is canceled once the caller has read its own half.
    reader.cancel().catch(() => {});
  }
}

/** @throws if it is too long or interrupted */
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

/** Seconds (RFC 9110 section 10.2.3), in every response of the service that asks for a retry. */
export function waitMs(answer: Response | undefined): number {
  return Number(answer?.headers.get('Retry-After') ?? 0) * 1_000 || PAUSE_MS;
}
