import { networks } from '../../../schema/network.ts';
import type { Decision, Transferred, Unknown } from '../outcome.ts';
import type { SolanaAuthorization } from './authorization.ts';
import {
  type LandedStatus,
  type LandedTransaction,
  SIGNATURES_MAX,
  type SolanaChain,
  type TokenBalance,
} from './chain.ts';
import { readWireTransaction, TRANSFER_INDEX, usdcAccountOf } from './transfer.ts';

const unavailable: Unknown = { kind: 'unknown', reason: 'chain_unavailable' };
/** The node contradicts itself, so its answer is not used and the payment is decided later. */
const inconsistent: Unknown = { kind: 'unknown', reason: 'chain_inconsistent' };
const not_mined: Unknown = { kind: 'unknown', reason: 'not_mined' };

/**
 * Decides the outcome of a payment from the chain alone, by all signatures with which it may have been sent. The outcome depends on
 * which of these transactions is in a block, or on whether the final height is so high that no block accepts the payment. It can be
 * repeated. `from_slot` is the first slot in which the payment may have moved; null if we never sent it.
 */
export async function decideSent(
  chain: SolanaChain,
  authorization: SolanaAuthorization,
  signatures: readonly string[],
  from_slot: number | null,
): Promise<Decision> {
  // The height is read first: a payment that is in no block by then, according to a node that had seen that height, will never be
  // in one.
  const finalized = await chain.finalized();
  const statuses = await chain.statuses(signatures);
  if (statuses.kind !== 'ok' || finalized.kind !== 'ok') return unavailable;
  const landed = statuses.value.value.find(status => status !== null);
  if (landed) return decideLanded(chain, authorization, landed);
  if (finalized.value.block_height <= authorization.last_valid_block_height) return not_mined;
  return statuses.value.slot >= finalized.value.slot ? decideUnseen(chain, from_slot) : inconsistent;
}

/**
 * Decides about a payment that is in no block and has expired. The outcome is unknown if the node no longer keeps the blocks that
 * may contain it.
 */
async function decideUnseen(chain: Pick<SolanaChain, 'oldest'>, from_slot: number | null): Promise<Decision> {
  if (from_slot !== null) {
    const oldest = await chain.oldest();
    if (oldest.kind !== 'ok') return unavailable;
    if (oldest.value > from_slot) return inconsistent;
  }
  return { kind: 'not_transferred', reason: 'expired' };
}

/** Decides about a payment that is in a block. Its effect is read from the transaction, not only from its status. */
export async function decideLanded(
  chain: SolanaChain,
  authorization: SolanaAuthorization,
  { signature, err }: LandedStatus,
): Promise<Decision> {
  if (err !== null) return { kind: 'not_transferred', reason: 'reverted' };
  const transaction = await chain.transaction(signature);
  if (transaction.kind !== 'ok') return unavailable;
  // A node has a status shortly before the transaction itself.
  if (transaction.value === null) return not_mined;
  return transferOutcome(transaction.value, authorization, signature) ?? inconsistent;
}

/**
 * The authorized transfer in a transaction that has the signed message and changed the balances accordingly; null if the
 * transaction is another one or had another effect.
 */
function transferOutcome(
  { slot, raw, err, before, after }: LandedTransaction,
  { message_hash, pay_to, amount_atomic }: SolanaAuthorization,
  signature: string,
): Transferred | null {
  if (err !== null || readWireTransaction(raw)?.message_hash !== message_hash) return null;
  if (usdcOf(after, pay_to) - usdcOf(before, pay_to) !== amount_atomic) return null;
  return {
    kind: 'transferred',
    tx_hash: signature,
    block_number: slot,
    block_hash: blockName(slot),
    transfer_index: TRANSFER_INDEX,
    by: 'us',
  };
}

function usdcOf(balances: readonly TokenBalance[], owner: string): bigint {
  return balances
    .filter(balance => balance.owner === owner && balance.mint === networks.solana.usdc)
    .reduce((sum, { amount_atomic }) => sum + amount_atomic, 0n);
}

/** Name of a block by its slot. A final chain has at most one block in each slot. */
export function blockName(slot: number): string {
  return `slot:${slot}`;
}

/**
 * Whether the payment has expired on the final chain: no later block accepts it, and no block that may still be replaced can
 * contain it.
 */
export async function isExpiredOnSolana(
  chain: Pick<SolanaChain, 'finalized'>,
  { last_valid_block_height }: Pick<SolanaAuthorization, 'last_valid_block_height'>,
): Promise<boolean> {
  const finalized = await chain.finalized();
  return finalized.kind === 'ok' && finalized.value.block_height > last_valid_block_height;
}

/** Maximum number of transactions of one payer that are read in a search. Each is a request to the node. */
const LOOKED_INTO_MAX = 200;

/**
 * Decides the outcome of a payment of which only the message is known. Its transaction is named by the signature of a fee payer
 * that is not ours, so it is searched for among all transactions that touched the payer's USDC account since the payment was made.
 */
export async function decideByMessage(
  chain: SolanaChain,
  authorization: SolanaAuthorization,
  from_slot: number | null,
): Promise<Decision> {
  const finalized = await chain.finalized();
  if (finalized.kind !== 'ok') return { kind: 'unknown', reason: 'chain_unavailable' };
  // The list is from a node that has seen the final block, so a payment that is not in it by then will never be.
  const all = await chain.signaturesOf(await usdcAccountOf(authorization.payer), finalized.value.slot);
  if (all.kind !== 'ok') return { kind: 'unknown', reason: 'chain_unavailable' };
  const since = all.value.filter(({ slot }) => slot >= (from_slot ?? 0));
  const found = await search(chain, authorization, since.slice(0, LOOKED_INTO_MAX));
  if (found === 'unreachable') return { kind: 'unknown', reason: 'chain_unavailable' };
  if (found !== null) return decideLanded(chain, authorization, found);
  const over = finalized.value.block_height > authorization.last_valid_block_height;
  const complete =
    since.length <= LOOKED_INTO_MAX && (since.length < all.value.length || all.value.length < SIGNATURES_MAX);
  if (!over) return { kind: 'unknown', reason: 'not_mined' };
  return complete ? decideUnseen(chain, from_slot) : { kind: 'unknown', reason: 'chain_inconsistent' };
}

async function search(
  chain: SolanaChain,
  { message_hash }: SolanaAuthorization,
  listed: readonly { readonly signature: string }[],
): Promise<LandedStatus | 'unreachable' | null> {
  for (const { signature } of listed) {
    const transaction = await chain.transaction(signature);
    if (transaction.kind !== 'ok') return 'unreachable';
    if (transaction.value === null || readWireTransaction(transaction.value.raw)?.message_hash !== message_hash)
      continue;
    const { slot, err } = transaction.value;
    return { signature, slot, err, final: false };
  }
  return null;
}
