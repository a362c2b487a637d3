import { decodePaymentSignatureHeader } from '@x402/core/http';

/** A signed payment and its request, as plain data that can be stored and sent again later. */
export interface KeptPayment {
  /** Method, URL and SHA-256 of the body, and a digest of the headers that distinguish purchases, if there are any. */
  readonly request: string;
  /** `PAYMENT-SIGNATURE` (x402 v2) or `X-PAYMENT` (v1), with its value. */
  readonly header: readonly [name: string, value: string];
  /** Unix seconds: from then on it cannot settle any more, but may have settled before. */
  readonly valid_before: number;
}

/** With more open payments something is wrong with the payee. */
const COUNT_MAX = 1_000;
/** The service keeps a purchase this long; until then it is requested before another payment is signed. */
const BOUGHT_KEPT_SECONDS = 86_400;

/**
 * Payments with an unknown outcome. A request may have several if equal purchases overlap; the first one signed is
 * sent first, and by one call at a time.
 */
export class KeptPayments {
  #payments: KeptPayment[] = [];
  /** Keeps the order of signing for a payment that is kept again. */
  readonly #order = new WeakMap<KeptPayment, number>();
  #count = 0;
  readonly #turns = new Map<string, Promise<void>>();

  constructor(known: Iterable<KeptPayment>) {
    for (const payment of known) this.keep(payment);
  }

  of(request: string): KeptPayment | undefined {
    const now = nowSeconds();
    return this.#payments.find(
      payment => payment.request === request && payment.valid_before + BOUGHT_KEPT_SECONDS >= now,
    );
  }

  /** @throws if too many are open */
  keep(payment: KeptPayment): void {
    if (this.#payments.some(known => isSame(known, payment))) return;
    if (this.#payments.length >= COUNT_MAX) this.#forgetOld();
    if (this.#payments.length >= COUNT_MAX) throw new Error(`the outcome of ${COUNT_MAX} payments is unknown`);
    if (!this.#order.has(payment)) this.#order.set(payment, this.#count++);
    const orderOf = (known: KeptPayment) => this.#order.get(known) ?? 0;
    this.#payments = [...this.#payments, payment].sort((one, other) => orderOf(one) - orderOf(other));
  }

  forget(payment: KeptPayment): void {
    this.#payments = this.#payments.filter(known => !isSame(known, payment));
  }

  #forgetOld(): void {
    const now = nowSeconds();
    this.#payments = this.#payments.filter(({ valid_before }) => valid_before >= now);
  }

  /**
   * Calls for the same request run one after the other, so that the second learns the outcome of the first one's
   * payment.
   */
  async inTurn<T>(request: string, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(request) ?? Promise.resolve();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const turn = before.then(() => ended);
    this.#turns.set(request, turn);
    try {
      await awaitUnlessAborted(before, signal);
      return await act();
    } finally {
      end();
      if (this.#turns.get(request) === turn) this.#turns.delete(request);
    }
  }
}

const isSame = (one: KeptPayment, other: KeptPayment): boolean =>
  one.request === other.request && one.header[1] === other.header[1];

export const nowSeconds = (): number => Math.floor(Date.now() / 1_000);

export async function awaitUnlessAborted<T>(awaited: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([aborted, awaited]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Headers that distinguish purchases of the same body, or select the seller. They are secrets, so they are digested.
 */
const distinguishingHeaders = ['Idempotency-Key', 'X-Router-Key'];

/** The identity of a request, equal when it is sent again, even for a form, whose boundary is random. */
export async function nameOf(request: Request): Promise<string> {
  const bytes = await request.clone().arrayBuffer();
  const [, boundary] = /boundary="?([^";]+)/i.exec(request.headers.get('content-type') ?? '') ?? [];
  const text = () => new TextDecoder('latin1').decode(bytes);
  const content = boundary ? new TextEncoder().encode(text().replaceAll(boundary, '')) : bytes;
  const shown = distinguishingHeaders.flatMap(header =>
    request.headers.has(header) ? [`${header}: ${request.headers.get(header)}`] : [],
  );
  const marks = shown.length === 0 ? [] : [await sha256(new TextEncoder().encode(shown.join('\n')))];
  return [request.method, request.url, await sha256(content), ...marks].join(' ');
}

/** The service's id of the payment: the nonce of an authorization, or the hash of a transaction's message. */
export async function paymentIdOf({ header: [, value] }: KeptPayment): Promise<string | null> {
  const { payload } = decodePaymentSignatureHeader(value);
  const { authorization, transaction } = payload as { authorization?: { nonce?: string }; transaction?: string };
  if (authorization) return authorization.nonce?.toLowerCase() ?? null;
  if (!transaction) return null;
  const bytes = Uint8Array.from(atob(transaction), character => character.charCodeAt(0));
  // The message follows a count byte and the signatures of 64 bytes each.
  return sha256(bytes.subarray(1 + 64 * (bytes[0] ?? 0)));
}

async function sha256(content: ArrayBuffer | Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', content));
  return Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('');
}
