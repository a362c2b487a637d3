import { limits } from '../../../schema/limits.ts';
import type { Hex } from './abi.ts';
import type { Authorization } from './authorization.ts';
import type { ChainBlock, ChainReceipt } from './base-shapes.ts';
import type { BaseChain } from './chain.ts';
import { type Decision, type Transferred, transferred, type Unknown, usedOtherwise } from './outcome.ts';

/** What the decision rests on. */
export interface PaymentFacts {
  readonly authorization: Authorization;
  /** Transactions of ours that carry it; none where it was never submitted by us. */
  readonly attempts: readonly Hex[];
  /** The block before which it cannot have moved. */
  readonly from_block: number;
}

/**
 * What became of a payment, from the chain alone: our transactions' receipts, then the authorization's state, its log,
 * and the time. Decides the same however often it is asked; what cannot be known is `unknown`, never a guess.
 */
export async function decidePayment(chain: BaseChain, facts: PaymentFacts): Promise<Decision> {
  const receipts = await chain.receipts(facts.attempts);
  const mined = receipts.flatMap(receipt => (receipt.kind === 'ok' && receipt.value ? [receipt.value] : []));
  for (const receipt of mined) {
    const done = transferred(receipt, facts.authorization, 'us');
    if (done) return done;
  }
  const last = mined.at(-1);
  // One that cannot be had may be the one that moved it: then only the nonce and the time can tell.
  const complete = receipts.every(receipt => receipt.kind === 'ok');
  return last && complete ? decideMined(chain, facts, last) : decideUnmined(chain, facts);
}

const unavailable: Unknown = { kind: 'unknown', reason: 'chain_unavailable' };

/** Our transaction is on the chain and did not move this payment: it failed in it, or somebody was faster. */
export async function decideMined(chain: BaseChain, facts: PaymentFacts, receipt: ChainReceipt): Promise<Decision> {
  const [used, block] = await Promise.all([
    chain.used(facts.authorization, receipt.block_number),
    chain.block(receipt.block_number),
  ]);
  if (used.kind !== 'ok' || block.kind !== 'ok') return unavailable;
  if (used.value) return decideUsed(chain, facts);
  const expired = block.value !== null && isExpired(facts.authorization, block.value);
  return { kind: 'not_transferred', reason: expired ? 'expired' : 'reverted' };
}

async function decideUnmined(chain: BaseChain, facts: PaymentFacts): Promise<Decision> {
  const head = await chain.block('latest');
  if (head.kind !== 'ok' || head.value === null) return unavailable;
  const used = await chain.used(facts.authorization, head.value.number);
  if (used.kind !== 'ok') return unavailable;
  if (used.value) return decideUsed(chain, facts);
  if (isExpired(facts.authorization, head.value)) return { kind: 'not_transferred', reason: 'expired' };
  return { kind: 'unknown', reason: 'not_mined' };
}

/** The nonce is spent. By whom, and whether as authorized, stands in the logs; without them we do not know. */
async function decideUsed(chain: BaseChain, { authorization, attempts, from_block }: PaymentFacts): Promise<Decision> {
  const use = await chain.authorizationUse(authorization, from_block);
  if (use.kind !== 'ok') return unavailable;
  if (use.value === null) return { kind: 'unknown', reason: 'chain_inconsistent' };
  if (use.value.kind === 'cancelled') return { kind: 'not_transferred', reason: 'cancelled' };
  const [receipt] = await chain.receipts([use.value.tx_hash]);
  if (receipt?.kind !== 'ok') return unavailable;
  if (receipt.value === null) return { kind: 'unknown', reason: 'chain_inconsistent' };
  const by: Transferred['by'] = attempts.includes(use.value.tx_hash) ? 'us' : 'third_party';
  const done = transferred(receipt.value, authorization, by);
  if (done) return done;
  if (usedOtherwise(receipt.value, authorization)) return { kind: 'not_transferred', reason: 'used_otherwise' };
  return { kind: 'unknown', reason: 'chain_inconsistent' };
}

/**
 * Whether no block that is still to come before `validBefore` would be in time for what is sent now. One that is used
 * already is not late: it was submitted by somebody else, and its outcome stands in the log.
 */
export async function isTooLate(chain: BaseChain, authorization: Authorization, head: ChainBlock): Promise<boolean> {
  const left_seconds = authorization.valid_before_seconds - head.timestamp_seconds;
  if (left_seconds > limits.payment_settle_seconds_min) return false;
  const used = await chain.used(authorization, head.number);
  return used.kind === 'ok' && !used.value;
}

/** EIP-3009: a block at or after `validBefore` cannot take it, and no later one can. */
function isExpired({ valid_before_seconds }: Authorization, { timestamp_seconds }: ChainBlock): boolean {
  return timestamp_seconds >= valid_before_seconds;
}
