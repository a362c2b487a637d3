import type { Decision } from '../outcome.ts';
import type { SolanaAuthorization } from './authorization.ts';
import { type LandedStatus, SIGNATURES_MAX, type SvmChain } from './chain.ts';
import { decideLanded, decideUnseen } from './decide.ts';
import { usdcAccountOf } from './programs.ts';
import { readTransaction } from './transfer.ts';

/** Of one payer, since the payment: each is a question to the node. */
const LOOKED_INTO_MAX = 200;

/**
 * What became of a payment whose transaction is known by its message alone, since another fee payer's signature names
 * it: it is looked for among all that have touched the payer's USDC since it was made.
 */
export async function decideByMessage(
  chain: SvmChain,
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
  chain: SvmChain,
  { message_hash }: SolanaAuthorization,
  listed: readonly { readonly signature: string }[],
): Promise<LandedStatus | 'unreachable' | null> {
  for (const { signature } of listed) {
    const transaction = await chain.transaction(signature);
    if (transaction.kind !== 'ok') return 'unreachable';
    if (transaction.value === null || readTransaction(transaction.value.raw)?.message_hash !== message_hash) continue;
    const { slot, err } = transaction.value;
    return { signature, slot, err, final: false };
  }
  return null;
}
