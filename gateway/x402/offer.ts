import { decodePaymentRequiredHeader, encodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequired, PaymentRequirements } from '@x402/core/types';
import { LRUCache } from 'lru-cache';
import type { CallDescription } from '../../rest-compat/call-description.ts';
import type { Challenge, Price } from '../../rest-compat/port.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { ErrorCode } from '../../schema/errors.ts';
import { legLimits, limits } from '../../schema/limits.ts';
import { type NetworkName, networks } from '../../schema/network.ts';
import { type Extensions, noExtensions } from './extensions.ts';

/** Treasury address per network. A network without one is not offered, nor is Solana without a fee payer. */
export type PayTo = Readonly<Partial<Record<NetworkName, string>>> & {
  /** Fee payer that payers on Solana must name in their transaction. */
  readonly solana_fee_payer?: string;
};
export type ChallengeReason = { readonly code: ErrorCode; readonly detail?: string } | null;

/** Members of an `exact` offer in addition to the price, by network. */
const extras: Record<NetworkName, (pay_to: PayTo) => Record<string, string>> = {
  base: () => ({ ...networks.base.usdc_domain }),
  solana: ({ solana_fee_payer }) => ({ ...(solana_fee_payer && { feePayer: solana_fee_payer }) }),
};

const ANSWERS_IN = 'application/json';
const NO_PAYMENT = 'PAYMENT-SIGNATURE or X-PAYMENT header is required';

/** Offers of one price in x402 v2. */
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

/** Offers of one price in x402 v1, whose clients read the body. */
function requirementsV1(price: Price, pay_to: PayTo): JsonObject[] {
  return offersOf(price, pay_to).map(({ network, payTo, asset, extra }) => ({
    scheme: 'exact',
    network,
    maxAmountRequired: price.amount_atomic.toString(),
    resource: price.resource,
    description: price.description,
    mimeType: ANSWERS_IN,
    ...(price.call_description && { outputSchema: price.call_description.output_schema }),
    payTo,
    maxTimeoutSeconds: timeoutOf(price),
    asset,
    extra,
  }));
}

/** Time, in seconds, for which a client should make its payment valid. */
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

interface CachedChallenge {
  readonly challenge: Challenge;
  /** Time at which the signed parts of the 402 must be signed again. */
  readonly until_ms: number;
}

/** Makes one 402 for both versions: v2 in the PAYMENT-REQUIRED header, v1 in the body, which has no extensions. */
function challengeUntil(price: Price, pay_to: PayTo, reason: ChallengeReason, { of }: Extensions): CachedChallenge {
  const error = reason === null ? NO_PAYMENT : (reason.detail ?? reason.code);
  const accepts = requirements(price, pay_to);
  const { extensions, until_ms } = of(price, accepts);
  // Optional members of v2 are left out, because headers have little room. The body and /.well-known/x402 have them.
  const why = reason === null ? {} : { error: briefly(error, reason.code) };
  const required: PaymentRequired = { x402Version: 2, ...why, resource: { url: price.resource }, accepts, extensions };
  const encoded = withBazaar(required, price.call_description?.bazaars ?? []);
  const challenge = {
    headers: { [PAYMENT_REQUIRED]: encoded.header },
    required: encoded.required as unknown as JsonObject,
    // `code` is an addition to x402 v1, by which programs distinguish refusals.
    body: { x402Version: 1, error, ...(reason && { code: reason.code }), accepts: requirementsV1(price, pay_to) },
  };
  return { challenge, until_ms };
}

const PAYMENT_REQUIRED = 'PAYMENT-REQUIRED';
const HEADER_BYTES_MAX = limits.challenge_headers_bytes_max - limits.challenge_beside_bytes_max;

/**
 * Adds the longest description of the endpoint for which the header has room, because a proxy with default settings replaces a response
 * with a longer header by a 502.
 */
function withBazaar(required: PaymentRequired, [bazaar, ...shorter]: readonly JsonObject[]): EncodedChallenge {
  const whole = bazaar ? { ...required, extensions: { ...required.extensions, bazaar } } : required;
  const header = encodePaymentRequiredHeader(whole);
  const fits = !bazaar || PAYMENT_REQUIRED.length + header.length < HEADER_BYTES_MAX;
  return fits ? { required: whole, header } : withBazaar(required, shorter);
}

interface EncodedChallenge {
  readonly required: PaymentRequired;
  readonly header: string;
}

type ChallengeResponse = Pick<Challenge, 'headers' | 'body'>;

/** Adds to a 402 how the endpoint is called, which the resolver that made the offer does not have. */
export function describeChallenge(
  { headers, body }: ChallengeResponse,
  { output_schema, bazaars }: CallDescription,
): ChallengeResponse {
  const { header } = withBazaar(decodePaymentRequiredHeader(headers[PAYMENT_REQUIRED] ?? ''), bazaars);
  const accepts = (body.accepts as readonly JsonObject[]).map(offer => ({ ...offer, outputSchema: output_schema }));
  return { headers: { ...headers, [PAYMENT_REQUIRED]: header }, body: { ...body, accepts } };
}

/** Text of `error` in the header: the sentence if it is short, or else the code. The body always has the sentence. */
function briefly(error: string, code: ErrorCode): string {
  return error.length <= limits.challenge_error_chars_max ? error : code;
}

const REMEMBERED_MAX = 1_000;
export type Challenges = (price: Price, reason: ChallengeReason) => Challenge;

/** Caches each encoded 402 while its signatures are valid, so that an unpaid request costs only a look-up. */
export function openChallenges(pay_to: PayTo, extensions: Extensions = noExtensions): Challenges {
  const remembered = new LRUCache<string, CachedChallenge>({ max: REMEMBERED_MAX });
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
