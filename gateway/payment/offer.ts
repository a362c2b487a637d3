import { encodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequired, PaymentRequirements } from '@x402/core/types';
import type { Challenge, Price } from '../../rest-compat/port.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { ErrorCode } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';
import { type NetworkName, networks } from '../../schema/network.ts';

/** Treasury address per network; a network without one is not offered. */
export type PayTo = Readonly<Partial<Record<NetworkName, string>>>;
export type ChallengeReason = { readonly code: ErrorCode; readonly detail?: string } | null;

/** What a network's `exact` offer says beyond the price: one row per network that can be settled on. */
const offered: Partial<Record<NetworkName, { asset: string; extra: Record<string, string> }>> = {
  base: { asset: networks.base.usdc, extra: { ...networks.base.usdc_domain } },
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
    maxTimeoutSeconds: limits.payment_timeout_seconds_max,
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
    payTo,
    maxTimeoutSeconds: limits.payment_timeout_seconds_max,
    asset,
    extra,
  }));
}

function offersOf({ networks: wanted }: Price, pay_to: PayTo) {
  return wanted.flatMap(network => {
    const terms = offered[network];
    const payTo = pay_to[network];
    return terms && payTo ? [{ network, payTo, ...terms }] : [];
  });
}

/** One 402 for both versions: v2 in the PAYMENT-REQUIRED header, v1 in the body. */
export function challenge(price: Price, pay_to: PayTo, reason: ChallengeReason): Challenge {
  const error = reason === null ? NO_PAYMENT : (reason.detail ?? reason.code);
  const required: PaymentRequired = {
    x402Version: 2,
    error,
    resource: { url: price.resource, description: price.description, mimeType: ANSWERS_IN },
    accepts: requirements(price, pay_to),
    extensions: {},
  };
  return {
    headers: { 'PAYMENT-REQUIRED': encodePaymentRequiredHeader(required) },
    required: required as unknown as JsonObject,
    body: { x402Version: 1, error, accepts: requirementsV1(price, pay_to) },
  };
}

const REMEMBERED_MAX = 1_000;

/** Challenges encoded once each: an unpaid request costs a look-up. The oldest is forgotten first. */
export function openChallenges(pay_to: PayTo): (price: Price, reason: ChallengeReason) => Challenge {
  const remembered = new Map<string, Challenge>();
  return (price, reason) => {
    const key = [
      price.amount_atomic,
      price.networks.join(),
      price.resource,
      price.description,
      reason?.code,
      reason?.detail,
    ].join('\n');
    const known = remembered.get(key);
    if (known) return known;
    const made = challenge(price, pay_to, reason);
    if (remembered.size >= REMEMBERED_MAX) {
      for (const oldest of remembered.keys()) {
        remembered.delete(oldest);
        break;
      }
    }
    remembered.set(key, made);
    return made;
  };
}
