import { Refusal } from '../../../schema/errors.ts';
import { rejected } from '../authorized.ts';
import type { Presented } from '../claimed.ts';
import type { BasePayment } from '../payment.ts';
import { chainUnreachable, REVERTED_LATELY, revertedLately } from '../preflight.ts';
import type { Till } from '../till.ts';
import { authorizationDigest } from './authorization.ts';
import { type ContractSignature, signatureOnWire } from './signature.ts';
import { paymentCalls } from './wallet-calls.ts';

const NOT_SIGNED = 'invalid_exact_evm_payload_signature';

/**
 * Only the very transfer, run and undone, tells that USDC and the wallet will take the payment, within their gas. `spent`:
 * it failed since the payment was used in the meantime. @throws payment_rejected, chain_unavailable.
 */
export async function walletTakes(
  till: Till,
  { paid, payment: { authorization } }: Presented<BasePayment>,
  signature: ContractSignature,
): Promise<'taken' | 'spent'> {
  if (await revertedLately(till, authorization)) throw rejected(till, paid, REVERTED_LATELY);
  const market = await till.chain.market([]);
  if (market.kind !== 'ok') throw chainUnreachable(market.cause);
  const { head, priority_fee_wei } = market.value;
  // Priced as what is sent: code must not be able to tell the two apart by a fee of nothing.
  const fees = { max_fee_wei: 2n * head.base_fee_wei + priority_fee_wei, priority_fee_wei };
  const taken = await till.chain.simulate(paymentCalls(authorization, signature), till.settles_from, fees);
  if (taken.kind !== 'ok') throw chainUnreachable(taken.cause);
  if (taken.value !== null) return 'taken';
  const now = await till.chain.readiness(authorization);
  if (now.kind !== 'ok') throw chainUnreachable(now.cause);
  if (now.value.used) return 'spent';
  throw rejected(
    till,
    paid,
    now.value.balance_atomic < authorization.amount_atomic ? 'insufficient_funds' : NOT_SIGNED,
  );
}

/** USDC takes no payment twice: of one that is used the wallet alone can say whether the signature is its own. */
export async function requireProof(till: Till, { paid, payment }: Presented<BasePayment>): Promise<void> {
  const { authorization, signature } = payment;
  const digest = authorizationDigest(authorization);
  const verdict = await till.wallets.verifies(authorization.payer, digest, signatureOnWire(signature));
  // The money may be here: not charged is nothing that could be said of it.
  if (verdict === 'unreachable') throw new Refusal('settlement_pending');
  if (verdict === 'invalid') throw rejected(till, paid, NOT_SIGNED);
}
