import { decodePaymentRequiredHeader, encodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequired, PaymentRequirements } from '@x402/core/types';
import { LRUCache } from 'lru-cache';
import type { Called } from '../../rest-compat/called.ts';
import type { Challenge, Price } from '../../rest-compat/port.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { ErrorCode } from '../../schema/errors.ts';
import { legLimits, limits } from '../../schema/limits.ts';
import { type NetworkName, networks } from '../../schema/network.ts';
import { type Extensions, noExtensions } from './extensions.ts';

/** Treasury address per network; a network without one is not offered, nor is Solana without a payer of fees. */
export type PayTo = Readonly<Partial<Record<NetworkName, string>>> & {
  /** Whom payers on Solana name as the payer of their transaction's fee. */
  readonly solana_fee_payer?: string;
};
export type ChallengeReason = { readonly code: ErrorCode; readonly detail?: string } | null;

/** What a network's `exact` offer says beyond the price: one row per network that can be settled on. */
const extras: Record<NetworkName, (pay_to: PayTo) => Record<string, string>> = {
  base: () => ({ ...networks.base.usdc_domain }),
  solana: ({ solana_fee_payer }) => ({ ...(solana_fee_payer && { feePayer: solana_fee_payer }) }),
};

const ANSWERS_IN = 'application/json';
const NO_PAYMENT = 'PAYMENT-SIGNATURE or X-PAYMENT header is required';

/** The offers of one price, in the terms of x402 v2. */
function requirements(price: Price, pay_to: PayTo): PaymentRequirements[] {
  return offersOf(price, pay_to).map(({ network, payTo, asset, extra }) => ({
    scheme: 'exact',
    network: networks[network].caip2,
    amount: price.amount_atomic.toString(),
    asset,
    payTo,
    maxTimeoutSeconds: timeoutOf(price),
    extra,
  }));
}

/** The same offers for clients of x402 v1, which read the body. */
function requirementsV1(price: Price, pay_to: PayTo): JsonObject[] {
  return offersOf(price, pay_to).map(({ network, payTo, asset, extra }) => ({
    scheme: 'exact',
    network,
    maxAmountRequired: price.amount_atomic.toString(),
    resource: price.resource,
    description: price.description,
    mimeType: ANSWERS_IN,
    ...(price.called && { outputSchema: price.called.output_schema }),
    payTo,
    maxTimeoutSeconds: timeoutOf(price),
    asset,
    extra,
  }));
}

/** For how long clients make a payment valid from now on. */
function timeoutOf({ validity_seconds_max }: Price): number {
  return validity_seconds_max === undefined
    ? limits.payment_timeout_seconds_max
    : validity_seconds_max - legLimits.validity_slack_seconds;
}

function offersOf({ networks: wanted, pay_to: payee }: Price, pay_to: PayTo) {
  return wanted.flatMap(network => {
    const served = network === 'solana' && !pay_to.solana_fee_payer ? undefined : pay_to[network];
    const payTo = served && (payee ?? served);
    return payTo ? [{ network, payTo, asset: networks[network].usdc, extra: extras[network](pay_to) }] : [];
  });
}

interface Made {
  readonly challenge: Challenge;
  /** When what is signed in it is to be signed anew. */
  readonly until_ms: number;
}

/** One 402 for both versions: v2 in the PAYMENT-REQUIRED header, v1 in the body, which knows of no extensions. */
function challengeUntil(price: Price, pay_to: PayTo, reason: ChallengeReason, { of }: Extensions): Made {
  const error = reason === null ? NO_PAYMENT : (reason.detail ?? reason.code);
  const accepts = requirements(price, pay_to);
  const { extensions, until_ms } = of(price, accepts);
  // What v2 may leave out is left out: headers have little room, and the body and /.well-known/x402 say it.
  const why = reason === null ? {} : { error: briefly(error, reason.code) };
  const required: PaymentRequired = { x402Version: 2, ...why, resource: { url: price.resource }, accepts, extensions };
  const encoded = withBazaar(required, price.called?.bazaars ?? []);
  const challenge = {
    headers: { [PAYMENT_REQUIRED]: encoded.header },
    required: encoded.required as unknown as JsonObject,
    // Beside what x402 v1 knows of: by the code a program tells one refusal from another.
    body: { x402Version: 1, error, ...(reason && { code: reason.code }), accepts: requirementsV1(price, pay_to) },
  };
  return { challenge, until_ms };
}

const PAYMENT_REQUIRED = 'PAYMENT-REQUIRED';
const HEADER_BYTES_MAX = limits.challenge_headers_bytes_max - limits.challenge_beside_bytes_max;

/** With the first form of how it is called that the header has room for: a stock proxy answers 502 in place of a longer one. */
function withBazaar(required: PaymentRequired, [bazaar, ...shorter]: readonly JsonObject[]): Encoded {
  const whole = bazaar ? { ...required, extensions: { ...required.extensions, bazaar } } : required;
  const header = encodePaymentRequiredHeader(whole);
  const fits = !bazaar || PAYMENT_REQUIRED.length + header.length < HEADER_BYTES_MAX;
  return fits ? { required: whole, header } : withBazaar(required, shorter);
}

interface Encoded {
  readonly required: PaymentRequired;
  readonly header: string;
}

type Offered = Pick<Challenge, 'headers' | 'body'>;

/** What a resolver offers does not say how the door is called at which it is asked for. */
export function describeChallenge({ headers, body }: Offered, { output_schema, bazaars }: Called): Offered {
  const { header } = withBazaar(decodePaymentRequiredHeader(headers[PAYMENT_REQUIRED] ?? ''), bazaars);
  const accepts = (body.accepts as readonly JsonObject[]).map(offer => ({ ...offer, outputSchema: output_schema }));
  return { headers: { ...headers, [PAYMENT_REQUIRED]: header }, body: { ...body, accepts } };
}

/** x402's words are short; a sentence is in the body alone. */
function briefly(error: string, code: ErrorCode): string {
  return error.length <= limits.challenge_error_chars_max ? error : code;
}

const REMEMBERED_MAX = 1_000;
export type Challenges = (price: Price, reason: ChallengeReason) => Challenge;

/** Challenges encoded once each, for as long as what is signed in them is: an unpaid request costs a look-up. */
export function openChallenges(pay_to: PayTo, extensions: Extensions = noExtensions): Challenges {
  const remembered = new LRUCache<string, Made>({ max: REMEMBERED_MAX });
  return (price, reason) => {
    const { amount_atomic, networks, pay_to: payee, resource, description } = price;
    const key = [amount_atomic, networks.join(), payee, resource, description, reason?.code, reason?.detail].join('\n');
    const now = extensions.now_ms();
    const known = remembered.get(key);
    if (known && now < known.until_ms) return known.challenge;
    const made = challengeUntil(price, pay_to, reason, extensions);
    remembered.set(key, made);
    return made.challenge;
  };
}
