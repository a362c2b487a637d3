import type { FacilitatedChain, FacilitatedOutcome, HandedPayment } from '../facilitator/facilitated-chain.ts';
import type { SolanaPayment } from './authorization.ts';
import type { SolanaChain } from './chain.ts';
import { decideByMessage, decideLanded } from './decide.ts';
import { readWireTransaction } from './transfer.ts';
import { payloadOf, requirementsOf } from './verify-transaction.ts';

/**
 * Queries about Solana that settlement by a facilitator needs. The facilitator pays the fees, so the transaction is named by its
 * signature.
 */
export function solanaFacilitatorChain(chain: SolanaChain): FacilitatedChain<SolanaPayment> {
  return {
    network: 'solana',
    async handOverWindow({ authorization }) {
      const look = await chain.blockhash(authorization.blockhash);
      if (look.kind !== 'ok') return { kind: 'unreachable' };
      return look.value.valid ? { kind: 'in_time', from_block: look.value.slot } : { kind: 'too_late' };
    },
    // A payment that is in a block has been made, even if the facilitator reports a failure.
    isUnused: async ({ authorization }) => {
      const decision = await decideByMessage(chain, authorization, null);
      return decision.kind === 'not_transferred' || (decision.kind === 'unknown' && decision.reason === 'not_mined');
    },
    request({ authorization: { amount_atomic, pay_to, fee_payer }, signature: { transaction } }) {
      const paymentRequirements = requirementsOf(amount_atomic, pay_to, fee_payer);
      const paymentPayload = payloadOf(transaction, paymentRequirements);
      return { x402Version: 2, paymentPayload, paymentRequirements };
    },
    look: handed => lookFor(chain, handed),
  };
}

async function lookFor(
  chain: SolanaChain,
  { payment: { authorization }, from_block, tx_hash }: HandedPayment<SolanaPayment>,
): Promise<FacilitatedOutcome> {
  const named = tx_hash === null ? null : await chain.transaction(tx_hash);
  const landed = named?.kind === 'ok' ? named.value : null;
  const is_ours = landed !== null && readWireTransaction(landed.raw)?.message_hash === authorization.message_hash;
  if (landed && is_ours && tx_hash !== null)
    return decideLanded(chain, authorization, { signature: tx_hash, slot: landed.slot, err: landed.err, final: false });
  const decision = await decideByMessage(chain, authorization, from_block);
  const undecided = decision.kind === 'unknown' && decision.reason === 'not_mined';
  return landed !== null && undecided ? { kind: 'contradicted' } : decision;
}
