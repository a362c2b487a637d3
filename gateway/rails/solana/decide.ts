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
/** The node contradicts itself, so its answer is not used and it is asked again. */
const inconsistent: Unknown = { kind: 'unknown', reason: 'chain_inconsistent' };
const not_mined: Unknown = { kind: 'unknown', reason: 'not_mined' };

/**
 * The outcome of a payment, from the chain alone, by every signature with which it may have been sent: one that is in a block, or
 * the final height after which no block takes it. Repeatable. `from_slot`: the first slot in which it may have moved; null if we
 * never sent it.
 */
export async function decideSent(
  chain: SolanaChain,
  authorization: SolanaAuthorization,
  signatures: readonly string[],
  from_slot: number | null,
): Promise<Decision> {
  // The height is read first: what was in no block by then, for a node that had seen it, will never be.
  const finalized = await chain.finalized();
  const statuses = await chain.statuses(signatures);
  if (statuses.kind !== 'ok' || finalized.kind !== 'ok') return unavailable;
  const landed = statuses.value.value.find(status => status !== null);
  if (landed) return decideLanded(chain, authorization, landed);
  if (finalized.value.block_height <= authorization.last_valid_block_height) return not_mined;
  return statuses.value.slot >= finalized.value.slot ? decideUnseen(chain, from_slot) : inconsistent;
}

/** It is in no block and none can take it any more, unless the node no longer keeps the blocks in which it may be. */
async function decideUnseen(chain: Pick<SolanaChain, 'oldest'>, from_slot: number | null): Promise<Decision> {
  if (from_slot !== null) {
    const oldest = await chain.oldest();
    if (oldest.kind !== 'ok') return unavailable;
    if (oldest.value > from_slot) return inconsistent;
  }
  return { kind: 'not_transferred', reason: 'expired' };
}

/** It is in a block; its effect is in the transaction, not only in its status. */
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
 * The authorized transfer, in a transaction whose message was signed and whose balances changed accordingly; null if it is
 * another one or did something else.
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

/** Blocks are named by slot, of which a final chain has one each. */
export function blockName(slot: number): string {
  return `slot:${slot}`;
}

/** Whether no later block takes it, and none that may still be replaced could have. */
export async function isExpiredOnSolana(
  chain: Pick<SolanaChain, 'finalized'>,
  { last_valid_block_height }: Pick<SolanaAuthorization, 'last_valid_block_height'>,
): Promise<boolean> {
  const finalized = await chain.finalized();
  return finalized.kind === 'ok' && finalized.value.block_height > last_valid_block_height;
}

/** Transactions of one payer since the payment; each is a request to the node. */
const LOOKED_INTO_MAX = 200;

/**
 * The outcome of a payment that is known by its message only, because another fee payer's signature names the transaction: it is
 * searched among all that touched the payer's USDC since it was made.
 */
export async function decideByMessage(
  chain: SolanaChain,
  authorization: SolanaAuthorization,
  from_slot: number | null,
): Promise<Decision> {
  const finalized = await chain.finalized();
  if (finalized.kind !== 'ok') return { kind: 'unknown', reason: 'chain_unavailable' };
  // From a node that has seen the final block: what it does not list by then will never come.
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
