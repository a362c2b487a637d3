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

/**
 * Payments whose outcome is not known. Of those for the same request, of which there may be several where equal purchases
 * overlap, the one that was signed first is asked for first, and by one call at a time.
 */
export class KeptPayments {
  #payments: KeptPayment[] = [];
  /** One that comes back after another was kept is still the elder. */
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

  /** @throws where so many are open already. */
  keep(payment: KeptPayment): void {
    if (this.#payments.some(known => isSame(known, payment))) return;
    if (this.#payments.length >= COUNT_MAX) this.#forgetOld();
    if (this.#payments.length >= COUNT_MAX) throw new Error(`the outcome of ${COUNT_MAX} payments is not known`);
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

const isSame = (one: KeptPayment, other: KeptPayment): boolean =>
  one.request === other.request && one.header[1] === other.header[1];

export const nowSeconds = (): number => Math.floor(Date.now() / 1_000);

export async function unlessAborted<T>(awaited: Promise<T>, signal: AbortSignal): Promise<T> {
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

/** By these a caller tells one purchase of the same body from another, or from whom it is bought: secrets, so digested. */
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
