import { limits } from '../../../schema/limits.ts';
import type { Decision, NotTransferred, Transferred, Unknown } from '../outcome.ts';
import type { Hex } from './abi.ts';
import type { BaseAuthorization } from './authorization.ts';
import type { AuthorizationUse, BaseChain, ChainBlock, ChainReceipt, Transfer } from './chain.ts';
import { isUseOf, readTransfer, USDC } from './contracts.ts';

/** Facts about a payment that the decision depends on. */
export interface PaymentFacts {
  readonly authorization: BaseAuthorization;
  /** Hashes of our transactions that contain the payment; empty if we never submitted it. */
  readonly attempts: readonly Hex[];
  /** First block in which the payment may have moved. */
  readonly from_block: number;
  /**
   * Time before which the payment could not be used as signed, in unix seconds. If it is given and the search from `from_block`
   * reaches back that far, a nonce that is used without a log was used earlier, and so for something else.
   */
  readonly since_seconds?: number;
}

/**
 * Decides the outcome of a payment from the chain alone: from receipts of our transactions, then the nonce's state, its log, and
 * the time. It can be repeated. An outcome that cannot be determined is `unknown`, never a guess.
 */
export async function decidePayment(chain: BaseChain, facts: PaymentFacts): Promise<Decision> {
  const receipts = await chain.receipts(facts.attempts);
  const mined = receipts.flatMap(receipt => (receipt.kind === 'ok' && receipt.value ? [receipt.value] : []));
  for (const receipt of mined) {
    const done = transferOutcome(receipt, facts.authorization, 'us');
    if (done) return done;
  }
  const last = mined.at(-1);
  // A receipt that could not be read may be of the transaction that moved the payment. Then only the nonce and the time decide.
  const complete = receipts.every(receipt => receipt.kind === 'ok');
  return last && complete ? decideMined(chain, facts, last) : decideUnmined(chain, facts);
}

const unavailable: Unknown = { kind: 'unknown', reason: 'chain_unavailable' };
/** The node contradicts itself, so its answer is not used and the payment is decided later. */
const inconsistent: Unknown = { kind: 'unknown', reason: 'chain_inconsistent' };

/**
 * Decides after our transaction was mined without moving this payment: it failed, or someone else submitted the payment first.
 */
export async function decideMined(chain: BaseChain, facts: PaymentFacts, receipt: ChainReceipt): Promise<Decision> {
  const [used, block] = await Promise.all([
    chain.isUsed(facts.authorization, receipt.block_number),
    chain.block(receipt.block_number),
  ]);
  if (used.kind !== 'ok' || block.kind !== 'ok') return unavailable;
  if (used.value) return decideUsed(chain, facts, block.value);
  // A successful direct call of USDC moves the money and leaves a log, so a receipt without logs contradicts itself.
  if (receipt.succeeded && receipt.to === USDC && receipt.logs.length === 0) return inconsistent;
  const expired = block.value !== null && isExpired(facts.authorization, block.value);
  return decideUnused(chain, facts, expired ? 'expired' : 'reverted');
}

async function decideUnmined(chain: BaseChain, facts: PaymentFacts): Promise<Decision> {
  const head = await chain.block('latest');
  if (head.kind !== 'ok' || head.value === null) return unavailable;
  const used = await chain.isUsed(facts.authorization, head.value.number);
  if (used.kind !== 'ok') return unavailable;
  if (used.value) return decideUsed(chain, facts, head.value);
  if (isExpired(facts.authorization, head.value)) return decideUnused(chain, facts, 'expired');
  return { kind: 'unknown', reason: 'not_mined' };
}

/**
 * Decides about a nonce that the chain's state shows as unused. If this service has submitted the payment, the logs are checked too,
 * because a node's wrong answer would otherwise make the payer pay twice.
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
 * Decides about a nonce that is used as of block `seen_at`. The logs show who used it and whether for the authorized transfer.
 * Without a log the outcome is unknown, unless the search covered the whole time in which the nonce could have been used as
 * authorized.
 */
async function decideUsed(chain: BaseChain, facts: PaymentFacts, seen_at: ChainBlock | null): Promise<Decision> {
  const use = await chain.authorizationUse(facts.authorization, facts.from_block);
  if (use.kind !== 'ok') return unavailable;
  if (use.value.kind !== 'unseen') return decideByUse(chain, facts, use.value);
  // A node that is behind the node that reported the use cannot have the log.
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
  const done = transferOutcome(receipt.value, authorization, by);
  if (done) return done;
  return usedOtherwise(receipt.value, authorization)
    ? decideElsewhere(chain, authorization, receipt.value)
    : inconsistent;
}

/**
 * Decides after a receipt showed the nonce used for another transfer than the authorized one. The node contradicts itself if its
 * logs show the authorized transfer in that transaction.
 */
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
 * Whether a payment that is sent now might miss all blocks before `validBefore`. A used payment is not late: someone else submitted
 * it, and its outcome is in the log.
 */
export async function isTooLate(
  chain: BaseChain,
  authorization: BaseAuthorization,
  head: ChainBlock,
): Promise<boolean> {
  const left_seconds = authorization.valid_before_seconds - head.timestamp_seconds;
  if (left_seconds > limits.payment_settle_seconds_min) return false;
  const used = await chain.isUsed(authorization, head.number);
  return used.kind === 'ok' && !used.value;
}

/** Whether the payment has expired in a finalized block, so that no block that replaces another can accept it. */
export async function isExpiredOnBase(
  chain: Pick<BaseChain, 'block'>,
  { valid_before_seconds }: Pick<BaseAuthorization, 'valid_before_seconds'>,
): Promise<boolean> {
  const final = await chain.block('finalized');
  return final.kind === 'ok' && final.value !== null && final.value.timestamp_seconds >= valid_before_seconds;
}

/** Whether neither this block nor a later one can accept the payment, because it is at or after `validBefore` (EIP-3009). */
function isExpired({ valid_before_seconds }: BaseAuthorization, { timestamp_seconds }: ChainBlock): boolean {
  return timestamp_seconds >= valid_before_seconds;
}

/**
 * The Transfer that this authorization made in a transaction; null if none. A receipt's status proves nothing: its logs must
 * contain USDC's AuthorizationUsed, followed by the authorized transfer.
 */
export function transferOf(receipt: ChainReceipt, authorization: BaseAuthorization): Transfer | null {
  const transfer = transferByNonce(receipt, authorization);
  return transfer && isAuthorized(transfer, authorization) ? transfer : null;
}

/** Whether the transaction used the payer's nonce for a transfer to another payee or of another amount. */
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

export function transferOutcome(
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
/** Longest validity of a payment, a month. A search reaches back no further. */
const SECONDS_BACK_MAX = limits.payment_validity_seconds_max;
const BLOCKS_BACK_MAX = SECONDS_BACK_MAX / BLOCK_SECONDS;
const BLOCKS_MARGIN = 300;

/**
 * First block in which to search for a payment that cannot have moved before a time. The time is `validAfter` (EIP-3009; official
 * clients set it ten minutes back), or a time at which the payment was seen unused. Null if the head cannot be read.
 */
export async function searchFrom(chain: BaseChain, since_seconds: number): Promise<number | null> {
  const head = await chain.block('latest');
  if (head.kind !== 'ok' || head.value === null) return null;
  const age_blocks = Math.ceil((head.value.timestamp_seconds - since_seconds) / BLOCK_SECONDS) + BLOCKS_MARGIN;
  return Math.max(0, head.value.number - Math.min(Math.max(age_blocks, BLOCKS_MARGIN), BLOCKS_BACK_MAX));
}

/**
 * Time to which a search must reach back, in unix seconds: the given one, but no earlier than the longest validity before the head.
 */
function searchedSince(since_seconds: number, head: Pick<ChainBlock, 'timestamp_seconds'>): number {
  return Math.max(since_seconds, head.timestamp_seconds - SECONDS_BACK_MAX);
}
