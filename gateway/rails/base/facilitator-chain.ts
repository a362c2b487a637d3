import type { PaymentPayload, PaymentRequirements, SettleRequest } from '@x402/core/types';
import { limits } from '../../../schema/limits.ts';
import { networks } from '../../../schema/network.ts';
import type { FacilitatedChain, FacilitatedOutcome, HandedPayment } from '../facilitator/facilitated-chain.ts';
import type { BasePayment } from '../payment.ts';
import type { Hex } from './abi.ts';
import type { BaseAuthorization } from './authorization.ts';
import type { BaseChain, ChainReceipt } from './chain.ts';
import { MULTICALL3, USDC } from './contracts.ts';
import { decidePayment, isTooLate, transferOutcome } from './decide.ts';
import { searchStart } from './settle/journal.ts';
import { type BaseSignature, signatureOnWire } from './signature.ts';

/** Queries about Base that settlement by a facilitator needs. */
export function baseFacilitatorChain(chain: BaseChain): FacilitatedChain<BasePayment> {
  return {
    network: 'base',
    async handOverWindow({ authorization }) {
      const head = await chain.block('latest');
      if (head.kind !== 'ok' || head.value === null) return { kind: 'unreachable' };
      if (await isTooLate(chain, authorization, head.value)) return { kind: 'too_late' };
      return { kind: 'in_time', from_block: searchStart(head.value.number) };
    },
    async isUnused({ authorization }) {
      const head = await chain.block('latest');
      if (head.kind !== 'ok' || head.value === null) return false;
      const used = await chain.isUsed(authorization, head.value.number);
      return used.kind === 'ok' && !used.value;
    },
    request: ({ authorization, signature }) => settleRequest(authorization, signature),
    look: handed => lookFor(chain, handed),
  };
}

/**
 * Decides from the chain the outcome of a payment that was given to a facilitator. The transaction that the facilitator names is
 * checked first, and used only if it made exactly this transfer: the name may be wrong, and another transaction may have moved the
 * payment.
 */
async function lookFor(
  chain: BaseChain,
  { payment: { authorization }, from_block, tx_hash }: HandedPayment<BasePayment>,
): Promise<FacilitatedOutcome> {
  const [receipt] = tx_hash === null ? [] : await chain.receipts([tx_hash as Hex]);
  const named = receipt?.kind === 'ok' ? receipt.value : null;
  const done = named && transferOutcome(named, authorization, 'us');
  if (done) return done;
  const decision = await decidePayment(chain, { authorization, attempts: [], from_block });
  if (decision.kind === 'transferred') return { ...decision, by: 'us' };
  if (named === null || decision.kind !== 'unknown' || decision.reason !== 'not_mined') return decision;
  const failed = !named.succeeded && (await carries(chain, named, authorization));
  return failed ? { kind: 'not_transferred', reason: 'reverted' } : { kind: 'contradicted' };
}

/** Whether a transaction contained the payment. A facilitator could otherwise name any failed transaction. */
async function carries(
  chain: BaseChain,
  { tx_hash, to }: ChainReceipt,
  { nonce }: BaseAuthorization,
): Promise<boolean> {
  if (to !== USDC && to !== MULTICALL3) return false;
  const data = await chain.calldata(tx_hash);
  return data.kind === 'ok' && data.value !== null && data.value.includes(nonce.slice(2).toLowerCase());
}

/** Request to a facilitator, the same for /verify and /settle (x402 v2, section 7). */
function settleRequest(authorization: BaseAuthorization, signature: BaseSignature): SettleRequest {
  const paymentRequirements = requirementsOf(authorization);
  const paymentPayload: PaymentPayload = {
    x402Version: 2,
    accepted: paymentRequirements,
    payload: { signature: signatureOnWire(signature), authorization: authorizationOnWire(authorization) },
  };
  return { x402Version: 2, paymentPayload, paymentRequirements };
}

/** The offered terms that settlement needs. This service has already compared the payment with them. */
function requirementsOf({ pay_to, amount_atomic }: BaseAuthorization): PaymentRequirements {
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

function authorizationOnWire({ payer, pay_to, amount_atomic, nonce, ...window }: BaseAuthorization) {
  return {
    from: payer,
    to: pay_to,
    value: amount_atomic.toString(),
    validAfter: String(window.valid_after_seconds),
    validBefore: String(window.valid_before_seconds),
    nonce,
  };
}
