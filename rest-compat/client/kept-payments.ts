import { decodePaymentSignatureHeader } from '@x402/core/http';

/** A signed payment and the request that it was signed for: plain data, so that it can be kept and shown again later. */
export interface KeptPayment {
  /** Method, URL and SHA-256 of the body; and one of what else tells it from others, where something does. */
  readonly request: string;
  /** `PAYMENT-SIGNATURE` (x402 v2) or `X-PAYMENT` (v1), with its value. */
  readonly header: readonly [name: string, value: string];
  /** Seconds since the epoch: from then on it moves no more, and may have moved before. */
  readonly valid_before: number;
}

/** More are not signed, for then something is wrong with whoever is paid. */
const COUNT_MAX = 1_000;
/** So long the service keeps what a payment has bought: until then that is asked for before another one is signed. */
const BOUGHT_KEPT_SECONDS = 86_400;

/** Payments whose outcome is not known, by the request that they are for: one for each, and one call at a time asks for it. */
export class KeptPayments {
  readonly #payments = new Map<string, KeptPayment>();
  readonly #turns = new Map<string, Promise<void>>();

  constructor(known: Iterable<KeptPayment>) {
    for (const payment of known) this.keep(payment);
  }

  of(request: string): KeptPayment | undefined {
    const payment = this.#payments.get(request);
    if (payment && payment.valid_before + BOUGHT_KEPT_SECONDS < nowSeconds()) this.forget(request);
    return this.#payments.get(request);
  }

  /** @throws where so many are open already. */
  keep(payment: KeptPayment): void {
    if (this.#payments.size >= COUNT_MAX) this.#forgetOld();
    if (this.#payments.size >= COUNT_MAX) throw new Error(`the outcome of ${COUNT_MAX} payments is not known`);
    this.#payments.set(payment.request, payment);
  }

  forget(request: string): void {
    this.#payments.delete(request);
  }

  #forgetOld(): void {
    for (const { request, valid_before } of this.#payments.values())
      if (valid_before < nowSeconds()) this.forget(request);
  }

  /** Calls for the same request come one after the other: the second learns first what became of the first one's payment. */
  async inTurn<T>(request: string, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(request) ?? Promise.resolve();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const turn = before.then(() => ended);
    this.#turns.set(request, turn);
    try {
      await unlessAborted(before, signal);
      return await act();
    } finally {
      end();
      if (this.#turns.get(request) === turn) this.#turns.delete(request);
    }
  }
}

export const nowSeconds = (): number => Math.floor(Date.now() / 1_000);

export async function unlessAborted<T>(awaited: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([awaited, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** By these a caller tells one purchase of the same body from another, or from whom he buys it: secrets, so digested. */
const telling = ['Idempotency-Key', 'X-Router-Key'];

/** The same request sent again has the same name, also a form, whose boundary is made up anew each time. */
export async function nameOf(request: Request): Promise<string> {
  const bytes = await request.clone().arrayBuffer();
  const [, boundary] = /boundary="?([^";]+)/i.exec(request.headers.get('content-type') ?? '') ?? [];
  const text = () => new TextDecoder('latin1').decode(bytes);
  const content = boundary ? new TextEncoder().encode(text().replaceAll(boundary, '')) : bytes;
  const told = telling.flatMap(header =>
    request.headers.has(header) ? [`${header}: ${request.headers.get(header)}`] : [],
  );
  const marks = told.length === 0 ? [] : [await sha256(new TextEncoder().encode(told.join('\n')))];
  return [request.method, request.url, await sha256(content), ...marks].join(' ');
}

/** What the service calls the payment: the nonce of an authorization, or the hash of the message of a transaction. */
export async function paymentIdOf({ header: [, value] }: KeptPayment): Promise<string | null> {
  const { payload } = decodePaymentSignatureHeader(value);
  const { authorization, transaction } = payload as { authorization?: { nonce?: string }; transaction?: string };
  if (authorization) return authorization.nonce?.toLowerCase() ?? null;
  if (!transaction) return null;
  const bytes = Uint8Array.from(atob(transaction), character => character.charCodeAt(0));
  // Before the message stand its signatures, of 64 bytes each, and how many they are: one byte, of so few.
  return sha256(bytes.subarray(1 + 64 * (bytes[0] ?? 0)));
}

async function sha256(content: ArrayBuffer | Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', content));
  return Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('');
}
