import type { PaymentPayload, PaymentRequirements, SettleRequest } from '@x402/core/types';
import { z } from 'zod';
import { limits } from '../../../schema/limits.ts';
import { networkNamed, networks } from '../../../schema/network.ts';
import type { Hex } from '../base/abi.ts';
import type { Authorization } from '../base/authorization.ts';
import { type Signature, signatureOnWire } from '../base/signature.ts';

/** What a facilitator is asked about a payment: the same for /verify and /settle (x402 v2, section 7). */
export function settleRequest(authorization: Authorization, signature: Signature): SettleRequest {
  const paymentRequirements = requirementsOf(authorization);
  const paymentPayload: PaymentPayload = {
    x402Version: 2,
    accepted: paymentRequirements,
    payload: { signature: signatureOnWire(signature), authorization: authorizationOnWire(authorization) },
  };
  return { x402Version: 2, paymentPayload, paymentRequirements };
}

/** The terms that we offered, as far as they bear on settling: the payment has been held against them by ourselves. */
function requirementsOf({ pay_to, amount_atomic }: Authorization): PaymentRequirements {
  return {
    scheme: 'exact',
    network: networks.base.caip2,
    amount: amount_atomic.toString(),
    asset: networks.base.usdc,
    payTo: pay_to,
    maxTimeoutSeconds: limits.payment_timeout_seconds_max,
    extra: { ...networks.base.usdc_domain },
  };
}

function authorizationOnWire({ payer, pay_to, amount_atomic, nonce, ...window }: Authorization) {
  return {
    from: payer,
    to: pay_to,
    value: amount_atomic.toString(),
    validAfter: String(window.valid_after_seconds),
    validBefore: String(window.valid_before_seconds),
    nonce,
  };
}

/** A facilitator's word for why not, as far as it may be repeated to a caller. */
const reason = z
  .string()
  .regex(/^[\w.-]{1,100}$/)
  .nullish()
  .catch(null);

export const verifyAnswer = z.object({ isValid: z.boolean(), invalidReason: reason });

/** Where it names a network it must be ours, or it speaks of another payment. */
export const settleAnswer = z
  .object({
    success: z.boolean(),
    errorReason: reason,
    transaction: z.string().max(200).nullish(),
    network: z
      .string()
      .refine(name => networkNamed(name) === 'base')
      .nullish(),
  })
  .transform(({ success, errorReason, transaction }) => ({
    success,
    reason: errorReason ?? null,
    tx_hash: isHash(transaction) ? (transaction.toLowerCase() as Hex) : null,
  }));

export const supportedAnswer = z.object({
  kinds: z.array(z.object({ x402Version: z.number(), scheme: z.string(), network: z.string() })),
});

/** Whether it settles what we sell for: `exact` on Base, in v2. It may name all networks of a family at once. */
export function settlesOurs({ kinds }: z.infer<typeof supportedAnswer>): boolean {
  return kinds.some(
    ({ x402Version, scheme, network }) =>
      x402Version === 2 && scheme === 'exact' && (networkNamed(network) === 'base' || network === 'eip155:*'),
  );
}

function isHash(transaction: string | null | undefined): transaction is Hex {
  return /^0x[0-9a-fA-F]{64}$/.test(transaction ?? '');
}
