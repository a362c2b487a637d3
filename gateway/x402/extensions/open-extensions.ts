import type { PaymentRequirements } from '@x402/core/types';
import { LRUCache } from 'lru-cache';
import type { Price } from '../../../rest-compat/port.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { limits } from '../../../schema/limits.ts';
import type { Clock } from '../../../subgraphs/clock.ts';
import { type OfferSigner, signedOffers } from './offer-receipt.ts';
import { identifierDeclared } from './payment-identifier.ts';

/** What a 402 of x402 v2 says beside its terms, and until when it may be said. */
export interface Extended {
  readonly extensions: JsonObject;
  readonly until_ms: number;
}

export interface Extensions {
  now_ms(): number;
  /** Extensions depend only on the price, so they are cached per price, whatever a payment was refused for. */
  of(price: Price, accepts: readonly PaymentRequirements[]): Extended;
}

export const noExtensions: Extensions = {
  now_ms: () => 0,
  of: () => ({ extensions: {}, until_ms: Number.POSITIVE_INFINITY }),
};

/** For so long the same signed offers go out; each holds for at least as long again as a payment may take. */
const SAME_MS = 300_000;
const REMEMBERED_MAX = 1_000;

/** Signs offers, once per price for all that ask within a window, and declares what a payment may bring along. */
export function openExtensions(issuer: OfferSigner, { now_ms }: Pick<Clock, 'now_ms'>): Extensions {
  const signed = new LRUCache<string, Extended>({ max: REMEMBERED_MAX });
  return {
    now_ms,
    of({ amount_atomic, networks, pay_to, resource, stamp }, accepts) {
      const now = now_ms();
      const key = [amount_atomic, networks.join(), pay_to, resource].join('\n');
      const known = signed.get(key);
      if (known && now < known.until_ms) return known;
      const until_ms = now + SAME_MS;
      const valid_until_seconds = Math.ceil(until_ms / 1_000) + limits.payment_timeout_seconds_max;
      const offers = signedOffers(issuer, resource, accepts, valid_until_seconds);
      const made = { extensions: { ...(stamp ? {} : identifierDeclared), ...offers }, until_ms };
      signed.set(key, made);
      return made;
    },
  };
}
