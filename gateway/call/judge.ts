import { LRUCache } from 'lru-cache';
import type { PaymentJudgement, Price, ShownPayment } from '../../rest-compat/port.ts';
import { type Refusal, withCharged } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';
import { type PresentedPayment } from '../../subgraphs/context.ts';
import { validity_seconds_min } from '../../subgraphs/sale.ts';
import { type Payment, provesItsPayer } from '../rails/payment.ts';
import { railOf } from '../rails/rail.ts';
import { type OfferedTerms, type Verified, verifyPayment } from '../rails/verify.ts';
import { type DecodedPayment, decodePayment } from '../x402/payment-header.ts';
import { type HaltedLog } from './ground.ts';
import { withKnownCharge } from './known-charge.ts';
import { type CallParts } from './parts.ts';

type Terms = Pick<Price, 'amount_atomic' | 'networks' | 'stamp'>;

/** Judges a payment before the body of its request is read, and before any server is asked. */
export interface Judge {
  /**
   * Judges the header only: shape, scheme, network, price, payee, window, signature. `terms` null: the payment buys nothing at that
   * endpoint.
   */
  judge(shown: ShownPayment | null, terms: Terms | null): Promise<PaymentJudgement>;
  /** Judges a payment for that field on any transport. Null if the field is not sold, or its price depends on the request. */
  weigh(payment: PresentedPayment, field: string): Promise<'rejected' | 'unproven' | 'proven' | null>;
  /** Whether the payment's signature proves that it pays for any field that is sold here. */
  isProven(payment: PresentedPayment): Promise<boolean>;
  /** Judges a signature by the code of its wallet on the chain. @throws unavailable, chain_unavailable; the payment stays usable */
  prove(unproven: Extract<PaymentJudgement, { kind: 'unproven' }>, address: string): Promise<PaymentJudgement>;
  /** Adds `charged` to a refusal that the gate found without looking at the payment, if a payment came along. */
  besidePayment(refusal: Refusal, payment: PaymentJudgement): Promise<Refusal>;
}

const NONE: PaymentJudgement = { kind: 'none' };

type JudgeParts = HaltedLog & Pick<CallParts, 'database' | 'rails' | 'pay_to' | 'clock' | 'sold' | 'respond'>;

export function openJudge(parts: JudgeParts): Judge {
  const { rails, sold, respond } = parts;
  const decode = rememberDecoded();
  const verify = (payment: PresentedPayment, { amount_atomic, networks, stamp }: Terms) =>
    verifyPayment(payment, offeredBy(parts, { amount_atomic, networks, stamp: stamp ?? false }), rails);
  return {
    async judge(shown, terms) {
      if (shown === null) return NONE;
      const decoded = decode(shown);
      if (decoded.kind === 'malformed') return decoded;
      const presented = decoded.payment;
      if (terms === null) return { kind: 'unjudged', presented };
      const verified = await verify(presented, terms);
      if (verified.kind === 'refused') return { kind: 'rejected', reason: verified.reason, presented };
      return {
        kind: provesItsPayer(verified) ? 'proven' : 'unproven',
        payer: verified.authorization.payer,
        presented,
        verified,
      };
    },
    async isProven(payment) {
      for (const terms of everyTerms(sold)) {
        const verified = await verify(payment, terms);
        if (verified.kind !== 'refused' && provesItsPayer(verified)) return true;
      }
      return false;
    },
    async weigh(payment, field) {
      const paid = sold.get(field);
      if (!paid || paid.price_atomic === null) return null;
      const { price_atomic: amount_atomic, networks, order } = paid;
      return worthOf(await verify(payment, { amount_atomic, networks, stamp: order === 'stamp' }));
    },
    async prove(unproven, address) {
      const payment = unproven.verified as Payment;
      const proof = await railOf({ rails }, payment.authorization.network).prove(payment, address);
      if (proof.kind === 'no_turn') throw respond({ kind: 'no_turn', retry_after_seconds: proof.retry_after_seconds });
      if (proof.kind === 'unreachable')
        throw await withKnownCharge(
          parts,
          respond({ kind: 'chain_unreachable' }, proof.cause),
          unproven.presented as PresentedPayment,
        );
      return proof.kind === 'proven'
        ? { ...unproven, kind: 'proven' }
        : { kind: 'rejected', reason: proof.reason, presented: unproven.presented };
    },
    async besidePayment(refusal, payment) {
      if (!('presented' in payment)) return refusal;
      return withKnownCharge(parts, withCharged(refusal, false), payment.presented as PresentedPayment);
    },
  };
}

/**
 * Remembers decoded payments. A buyer may send a payment several times, and the same header always decodes to the same payment with the
 * same signature.
 */
function rememberDecoded(): (shown: ShownPayment) => DecodedPayment {
  const remembered = new LRUCache<string, { readonly x402_version: 1 | 2; readonly decoded: DecodedPayment }>({
    max: limits.payment_headers_remembered_max,
  });
  return ({ x402_version, header }) => {
    if (header.length > limits.payment_header_remembered_bytes_max) return decodePayment(x402_version, header);
    // The key is the header itself, because concatenating would copy it once more.
    const known = remembered.get(header);
    if (known?.x402_version === x402_version) return known.decoded;
    const decoded = decodePayment(x402_version, header);
    remembered.set(header, { x402_version, decoded });
    return decoded;
  };
}

/** Terms of everything that is sold, each price once. */
function everyTerms(sold: JudgeParts['sold']): Iterable<Terms> {
  const terms = [...sold.values()].flatMap(({ price_atomic: amount_atomic, networks, order }) =>
    amount_atomic === null ? [] : [{ amount_atomic, networks, stamp: order === 'stamp' }],
  );
  return new Map(terms.map(it => [`${it.amount_atomic} ${it.networks} ${it.stamp}`, it])).values();
}

function worthOf(verified: Verified) {
  if (verified.kind === 'refused') return 'rejected';
  return provesItsPayer(verified) ? 'proven' : 'unproven';
}

function offeredBy({ pay_to, clock }: Pick<JudgeParts, 'pay_to' | 'clock'>, terms: Required<Terms>): OfferedTerms {
  const order = terms.stamp ? 'stamp' : 'work_then_settle';
  return { ...terms, pay_to, validity_seconds_min: validity_seconds_min[order], now_ms: clock.now_ms() };
}
