import { limits } from '../../../schema/limits.ts';
import type { Decision, NotTransferred, Transferred, Unknown } from '../outcome.ts';
import type { Hex } from './abi.ts';
import type { BaseAuthorization } from './authorization.ts';
import type { AuthorizationUse, BaseChain, ChainBlock, ChainReceipt, Transfer } from './chain.ts';
import { isUseOf, readTransfer, USDC } from './contracts.ts';

/** The facts that a decision depends on. */
export interface PaymentFacts {
  readonly authorization: BaseAuthorization;
  /** Our transactions that contain it; empty if we never submitted it. */
  readonly attempts: readonly Hex[];
  /** The first block in which it may have moved. */
  readonly from_block: number;
  /**
   * A time before which it could not be used as signed. If it is given and the search from `from_block` reaches that far back, a
   * nonce that is used without a log was used before, and so for something else.
   */
  readonly since_seconds?: number;
}

/**
 * The outcome of a payment, from the chain alone: receipts of our transactions, then the nonce's state, its log, and the time.
 * Repeatable; what cannot be known is `unknown`, never a guess.
 */
export async function decidePayment(chain: BaseChain, facts: PaymentFacts): Promise<Decision> {
  const receipts = await chain.receipts(facts.attempts);
  const mined = receipts.flatMap(receipt => (receipt.kind === 'ok' && receipt.value ? [receipt.value] : []));
  for (const receipt of mined) {
    const done = transferOutcome(receipt, facts.authorization, 'us');
    if (done) return done;
  }
  const last = mined.at(-1);
  // A missing receipt may be of the transaction that moved it; then only the nonce and the time can tell.
  const complete = receipts.every(receipt => receipt.kind === 'ok');
  return last && complete ? decideMined(chain, facts, last) : decideUnmined(chain, facts);
}

const unavailable: Unknown = { kind: 'unknown', reason: 'chain_unavailable' };
/** The node contradicts itself, so its answer is not used and it is asked again. */
const inconsistent: Unknown = { kind: 'unknown', reason: 'chain_inconsistent' };

/** Our transaction is mined and did not move this payment: it failed, or someone else submitted it first. */
export async function decideMined(chain: BaseChain, facts: PaymentFacts, receipt: ChainReceipt): Promise<Decision> {
  const [used, block] = await Promise.all([
    chain.isUsed(facts.authorization, receipt.block_number),
    chain.block(receipt.block_number),
  ]);
  if (used.kind !== 'ok' || block.kind !== 'ok') return unavailable;
  if (used.value) return decideUsed(chain, facts, block.value);
  // A successful call of USDC itself has moved the money and has a log of it.
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
 * The state says that the nonce is unused, so the payer would be asked for another payment. If we have sent this one, the log is checked
 * too, so that no payer pays twice because a node is wrong about one of them.
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
 * The nonce is used as of `seen_at`. The logs show by whom and whether as authorized; without them it is unknown, unless they
 * were searched over the whole time in which it could have been used as authorized.
 */
async function decideUsed(chain: BaseChain, facts: PaymentFacts, seen_at: ChainBlock | null): Promise<Decision> {
  const use = await chain.authorizationUse(facts.authorization, facts.from_block);
  if (use.kind !== 'ok') return unavailable;
  if (use.value.kind !== 'unseen') return decideByUse(chain, facts, use.value);
  // A node that lags behind the one that showed the use cannot have the log.
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

/** The receipt shows the nonce used for another transfer than the authorized one, unless the log shows that one. */
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
 * Whether no later block before `validBefore` can take what is sent now. A used one is not late: someone else submitted it, and
 * its outcome is in the log.
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

/** Whether no block that may still be replaced could take it. */
export async function isExpiredOnBase(
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
 * The Transfer that this authorization made in a transaction; null if none. A receipt's status proves nothing: USDC's
 * AuthorizationUsed must be there, followed by the authorized transfer.
 */
export function transferOf(receipt: ChainReceipt, authorization: BaseAuthorization): Transfer | null {
  const transfer = transferByNonce(receipt, authorization);
  return transfer && isAuthorized(transfer, authorization) ? transfer : null;
}

/** Whether the payer's nonce was used there for a transfer to another payee or of another amount. */
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
/** A month of Base, the longest validity of a payment. */
const SECONDS_BACK_MAX = limits.payment_validity_seconds_max;
const BLOCKS_BACK_MAX = SECONDS_BACK_MAX / BLOCK_SECONDS;
const BLOCKS_MARGIN = 300;

/**
 * First block in which to search for a payment that cannot have moved before a time: `validAfter` (EIP-3009; official clients set
 * it ten minutes back), or the time at which it was seen unused. Null if the head cannot be read.
 */
export async function searchFrom(chain: BaseChain, since_seconds: number): Promise<number | null> {
  const head = await chain.block('latest');
  if (head.kind !== 'ok' || head.value === null) return null;
  const age_blocks = Math.ceil((head.value.timestamp_seconds - since_seconds) / BLOCK_SECONDS) + BLOCKS_MARGIN;
  return Math.max(0, head.value.number - Math.min(Math.max(age_blocks, BLOCKS_MARGIN), BLOCKS_BACK_MAX));
}

/** How far back a search since then must reach at least; limited to the longest validity. */
function searchedSince(since_seconds: number, head: Pick<ChainBlock, 'timestamp_seconds'>): number {
  return Math.max(since_seconds, head.timestamp_seconds - SECONDS_BACK_MAX);
}
