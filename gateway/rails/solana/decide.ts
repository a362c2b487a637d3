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
/** The node contradicts itself: what it says is not believed, and it is asked again. */
const inconsistent: Unknown = { kind: 'unknown', reason: 'chain_inconsistent' };
const not_mined: Unknown = { kind: 'unknown', reason: 'not_mined' };

/**
 * What became of a payment, from the chain alone, given every signature under which it may have been sent: one that is in
 * a block, or the final block height, after which no block takes it any more. Decides the same however often it is asked.
 * `from_slot`: before it the payment cannot have moved; null where we never sent it.
 */
export async function decideSent(
  chain: SolanaChain,
  authorization: SolanaAuthorization,
  signatures: readonly string[],
  from_slot: number | null,
): Promise<Decision> {
  // The height first: what was in no block by then, in the eyes of a node that had seen as much, will never be.
  const finalized = await chain.finalized();
  const statuses = await chain.statuses(signatures);
  if (statuses.kind !== 'ok' || finalized.kind !== 'ok') return unavailable;
  const landed = statuses.value.value.find(status => status !== null);
  if (landed) return decideLanded(chain, authorization, landed);
  if (finalized.value.block_height <= authorization.last_valid_block_height) return not_mined;
  return statuses.value.slot >= finalized.value.slot ? decideUnseen(chain, from_slot) : inconsistent;
}

/** In no block, and none takes it any more: unless the node has thrown away the blocks in which it may have been. */
async function decideUnseen(chain: Pick<SolanaChain, 'oldest'>, from_slot: number | null): Promise<Decision> {
  if (from_slot !== null) {
    const oldest = await chain.oldest();
    if (oldest.kind !== 'ok') return unavailable;
    if (oldest.value > from_slot) return inconsistent;
  }
  return { kind: 'not_transferred', reason: 'expired' };
}

/** It is in a block: what it did there stands in the transaction, and not in its status alone. */
export async function decideLanded(
  chain: SolanaChain,
  authorization: SolanaAuthorization,
  { signature, err }: LandedStatus,
): Promise<Decision> {
  if (err !== null) return { kind: 'not_transferred', reason: 'reverted' };
  const transaction = await chain.transaction(signature);
  if (transaction.kind !== 'ok') return unavailable;
  // A node keeps a status a little before the transaction itself can be had.
  if (transaction.value === null) return not_mined;
  return transferred(transaction.value, authorization, signature) ?? inconsistent;
}

/**
 * The transfer that was authorized, in a transaction that says what was signed and changed the balances by it; null where
 * it is another or did something else.
 */
function transferred(
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

/** What is asked of a node names a block by its slot, of which a final chain has one. */
export function blockName(slot: number): string {
  return `slot:${slot}`;
}

/** Whether no block that is still to come takes it, and none that may yet be replaced could have. */
export async function isOver(
  chain: Pick<SolanaChain, 'finalized'>,
  { last_valid_block_height }: Pick<SolanaAuthorization, 'last_valid_block_height'>,
): Promise<boolean> {
  const finalized = await chain.finalized();
  return finalized.kind === 'ok' && finalized.value.block_height > last_valid_block_height;
}

/** Of one payer, since the payment: each is a question to the node. */
const LOOKED_INTO_MAX = 200;

/**
 * What became of a payment whose transaction is known by its message alone, since another fee payer's signature names
 * it: it is looked for among all that have touched the payer's USDC since it was made.
 */
export async function decideByMessage(
  chain: SolanaChain,
  authorization: SolanaAuthorization,
  from_slot: number | null,
): Promise<Decision> {
  const finalized = await chain.finalized();
  if (finalized.kind !== 'ok') return { kind: 'unknown', reason: 'chain_unavailable' };
  // By a node that has seen the final block: what it does not list by then will never come.
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
