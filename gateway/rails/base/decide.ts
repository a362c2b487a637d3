import { limits } from '../../../schema/limits.ts';
import type { Decision, NotTransferred, Transferred, Unknown } from '../outcome.ts';
import type { Hex } from './abi.ts';
import type { BaseAuthorization } from './authorization.ts';
import type { AuthorizationUse, BaseChain, ChainBlock, ChainReceipt, Transfer } from './chain.ts';
import { isUseOf, readTransfer, USDC } from './contracts.ts';

/** What the decision rests on. */
export interface PaymentFacts {
  readonly authorization: BaseAuthorization;
  /** Transactions of ours that carry it; none where it was never submitted by us. */
  readonly attempts: readonly Hex[];
  /** The block before which it cannot have moved. */
  readonly from_block: number;
  /**
   * A time before which it could not be used as it was signed. Where it is named, and the search from `from_block` has
   * gone back that far, a nonce that is spent without a trace was spent before, and so on something else.
   */
  readonly since_seconds?: number;
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
/** The node contradicts itself: what it says is not believed, and it is asked again. */
const inconsistent: Unknown = { kind: 'unknown', reason: 'chain_inconsistent' };

/** Our transaction is on the chain and did not move this payment: it failed in it, or somebody was faster. */
export async function decideMined(chain: BaseChain, facts: PaymentFacts, receipt: ChainReceipt): Promise<Decision> {
  const [used, block] = await Promise.all([
    chain.used(facts.authorization, receipt.block_number),
    chain.block(receipt.block_number),
  ]);
  if (used.kind !== 'ok' || block.kind !== 'ok') return unavailable;
  if (used.value) return decideUsed(chain, facts, block.value);
  // A call of USDC itself that succeeds has moved the money and says so.
  if (receipt.succeeded && receipt.to === USDC && receipt.logs.length === 0) return inconsistent;
  const expired = block.value !== null && isExpired(facts.authorization, block.value);
  return decideUnused(chain, facts, expired ? 'expired' : 'reverted');
}

async function decideUnmined(chain: BaseChain, facts: PaymentFacts): Promise<Decision> {
  const head = await chain.block('latest');
  if (head.kind !== 'ok' || head.value === null) return unavailable;
  const used = await chain.used(facts.authorization, head.value.number);
  if (used.kind !== 'ok') return unavailable;
  if (used.value) return decideUsed(chain, facts, head.value);
  if (isExpired(facts.authorization, head.value)) return decideUnused(chain, facts, 'expired');
  return { kind: 'unknown', reason: 'not_mined' };
}

/**
 * The state says that the nonce is unspent, and the payer is about to hear that another payment is needed. Where we have
 * sent this one the log is asked as well: a node that has lost its way in one of them makes nobody pay twice.
 */
async function decideUnused(
  chain: BaseChain,
  facts: PaymentFacts,
  reason: NotTransferred['reason'],
): Promise<Decision> {
  if (facts.attempts.length === 0) return { kind: 'not_transferred', reason };
  const use = await chain.authorizationUse(facts.authorization, facts.from_block);
  if (use.kind !== 'ok') return unavailable;
  return use.value.kind === 'unseen' ? { kind: 'not_transferred', reason } : decideByUse(chain, facts, use.value);
}

/**
 * The nonce is spent, as `seen_at` shows it. By whom, and whether as authorized, stands in the logs; without them we do
 * not know, unless they were searched for as far back and as far on as it could have been spent as authorized.
 */
async function decideUsed(chain: BaseChain, facts: PaymentFacts, seen_at: ChainBlock | null): Promise<Decision> {
  const use = await chain.authorizationUse(facts.authorization, facts.from_block);
  if (use.kind !== 'ok') return unavailable;
  if (use.value.kind !== 'unseen') return decideByUse(chain, facts, use.value);
  // A node that is behind the one that we know the use from cannot have the log.
  if (facts.since_seconds === undefined || seen_at === null || use.value.searched_to < seen_at.number)
    return inconsistent;
  const first = await chain.block(facts.from_block);
  if (first.kind !== 'ok' || first.value === null) return unavailable;
  const missed = facts.from_block > 0 && first.value.timestamp_seconds > searchedSince(facts.since_seconds, seen_at);
  return missed ? inconsistent : { kind: 'not_transferred', reason: 'used_otherwise' };
}

async function decideByUse(
  chain: BaseChain,
  { authorization, attempts }: PaymentFacts,
  use: Exclude<AuthorizationUse, { kind: 'unseen' }>,
): Promise<Decision> {
  if (use.kind === 'cancelled') return { kind: 'not_transferred', reason: 'cancelled' };
  const [receipt] = await chain.receipts([use.tx_hash]);
  if (receipt?.kind !== 'ok') return unavailable;
  if (receipt.value === null) return inconsistent;
  const by: Transferred['by'] = attempts.includes(use.tx_hash) ? 'us' : 'third_party';
  const done = transferred(receipt.value, authorization, by);
  if (done) return done;
  return usedOtherwise(receipt.value, authorization)
    ? decideElsewhere(chain, authorization, receipt.value)
    : inconsistent;
}

/** The receipt shows the nonce spent on another transfer than the one that is authorized: unless the log shows that one. */
async function decideElsewhere(
  chain: BaseChain,
  { payer, pay_to, amount_atomic }: BaseAuthorization,
  { tx_hash, block_number }: ChainReceipt,
): Promise<Decision> {
  const transfers = await chain.transfersTo(pay_to, block_number, payer);
  if (transfers.kind !== 'ok') return unavailable;
  const here = transfers.value.some(it => it.tx_hash === tx_hash && it.amount_atomic === amount_atomic);
  return here ? inconsistent : { kind: 'not_transferred', reason: 'used_otherwise' };
}

/**
 * Whether no block that is still to come before `validBefore` would be in time for what is sent now. One that is used
 * already is not late: it was submitted by somebody else, and its outcome stands in the log.
 */
export async function isTooLate(
  chain: BaseChain,
  authorization: BaseAuthorization,
  head: ChainBlock,
): Promise<boolean> {
  const left_seconds = authorization.valid_before_seconds - head.timestamp_seconds;
  if (left_seconds > limits.payment_settle_seconds_min) return false;
  const used = await chain.used(authorization, head.number);
  return used.kind === 'ok' && !used.value;
}

/** Whether no block that may yet be replaced could still take it. */
export async function isOver(
  chain: Pick<BaseChain, 'block'>,
  { valid_before_seconds }: Pick<BaseAuthorization, 'valid_before_seconds'>,
): Promise<boolean> {
  const final = await chain.block('finalized');
  return final.kind === 'ok' && final.value !== null && final.value.timestamp_seconds >= valid_before_seconds;
}

/** EIP-3009: a block at or after `validBefore` cannot take it, and no later one can. */
function isExpired({ valid_before_seconds }: BaseAuthorization, { timestamp_seconds }: ChainBlock): boolean {
  return timestamp_seconds >= valid_before_seconds;
}

/**
 * The Transfer that this authorization made in a transaction; null where it made none. A receipt's status proves
 * nothing: USDC's AuthorizationUsed must stand there, and the transfer that follows it must be the authorized one.
 */
export function transferOf(receipt: ChainReceipt, authorization: BaseAuthorization): Transfer | null {
  const transfer = transferByNonce(receipt, authorization);
  return transfer && isAuthorized(transfer, authorization) ? transfer : null;
}

/** Whether the payer's nonce was spent there on a transfer to another payee or of another amount. */
function usedOtherwise(receipt: ChainReceipt, authorization: BaseAuthorization): boolean {
  const transfer = transferByNonce(receipt, authorization);
  return transfer !== null && !isAuthorized(transfer, authorization);
}

function transferByNonce({ succeeded, logs }: ChainReceipt, authorization: BaseAuthorization): Transfer | null {
  const use = logs.findIndex(log => isUseOf(log, authorization));
  if (!succeeded || use < 0) return null;
  for (const log of logs.slice(use + 1)) {
    const transfer = readTransfer(log);
    if (transfer) return transfer;
  }
  return null;
}

function isAuthorized({ from, to, amount_atomic }: Transfer, authorization: BaseAuthorization): boolean {
  const { payer, pay_to } = authorization;
  return from === payer.toLowerCase() && to === pay_to.toLowerCase() && amount_atomic === authorization.amount_atomic;
}

export function transferred(
  receipt: ChainReceipt,
  authorization: BaseAuthorization,
  by: Transferred['by'],
): Transferred | null {
  const transfer = transferOf(receipt, authorization);
  if (transfer === null) return null;
  const { tx_hash, block_number, block_hash } = receipt;
  return { kind: 'transferred', tx_hash, block_number, block_hash, transfer_index: transfer.log_index, by };
}

const BLOCK_SECONDS = 2;
/** A month of Base: as long as a payment may be valid. */
const SECONDS_BACK_MAX = limits.payment_validity_seconds_max;
const BLOCKS_BACK_MAX = SECONDS_BACK_MAX / BLOCK_SECONDS;
const BLOCKS_MARGIN = 300;

/**
 * Where to begin looking for a payment that cannot have moved before a time: `validAfter` (EIP-3009; official clients
 * set it to ten minutes ago), or the moment at which it was seen unused. Null where the head cannot be read.
 */
export async function searchFrom(chain: BaseChain, since_seconds: number): Promise<number | null> {
  const head = await chain.block('latest');
  if (head.kind !== 'ok' || head.value === null) return null;
  const age_blocks = Math.ceil((head.value.timestamp_seconds - since_seconds) / BLOCK_SECONDS) + BLOCKS_MARGIN;
  return Math.max(0, head.value.number - Math.min(Math.max(age_blocks, BLOCKS_MARGIN), BLOCKS_BACK_MAX));
}

/** What a search for something since then has to reach at least: no further back than it ever goes. */
function searchedSince(since_seconds: number, head: Pick<ChainBlock, 'timestamp_seconds'>): number {
  return Math.max(since_seconds, head.timestamp_seconds - SECONDS_BACK_MAX);
}
