import { Refusal } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';
import { walletRevertedLately } from '../../subgraphs/receipt/index.ts';
import { rejected } from './authorized.ts';
import { authorizationDigest } from './base/authorization.ts';
import { type ContractSignature, signatureOnWire } from './base/signature.ts';
import { paymentCalls } from './base/wallet-calls.ts';
import type { Presented } from './claimed.ts';
import type { Till } from './till.ts';

const NOT_SIGNED = 'invalid_exact_evm_payload_signature';
/** Of a wallet that said yes to the simulation and no to the chain: the gas was ours. */
const REVERTED_LATELY = 'payer_reverted_lately';

/**
 * Only the very transfer, run and undone, tells that USDC and the wallet will take the payment, within their gas. `spent`:
 * it failed since the payment was used in the meantime. @throws payment_rejected, chain_unavailable.
 */
export async function walletTakes(
  till: Till,
  { paid, payment: { authorization } }: Presented,
  signature: ContractSignature,
): Promise<'taken' | 'spent'> {
  if (await walletRevertedLately(till.database, authorization.payer, limits.wallet_reverted_rest_seconds))
    throw rejected(till, paid, REVERTED_LATELY);
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
export async function requireProof(till: Till, { paid, payment }: Presented): Promise<void> {
  const { authorization, signature } = payment;
  const digest = authorizationDigest(authorization);
  const verdict = await till.wallets.verifies(authorization.payer, digest, signatureOnWire(signature));
  // The money may be here: not charged is nothing that could be said of it.
  if (verdict === 'unreachable') throw new Refusal('settlement_pending');
  if (verdict === 'invalid') throw rejected(till, paid, NOT_SIGNED);
}

export function chainUnreachable(cause: unknown): Refusal {
  return new Refusal('chain_unavailable', { facts: { charged: false }, cause });
}
