import type { Clock } from '../../../../subgraphs/clock.ts';
import type { Database, Tx } from '../../../../subgraphs/database.ts';
import { reserveFee } from '../../../../subgraphs/receipt/claim/settlement/fee.ts';
import { journalSettlement, type NewSettlement } from '../../../../subgraphs/receipt/claim/settlement/journal.ts';
import { allocateNonce } from '../../../../subgraphs/receipt/claim/settlement/nonce.ts';
import { type JournalOutcome, journal, newSettlementId, type SettlerParts, type SettlerTimes } from '../../settler.ts';
import type { Hex } from '../abi.ts';
import type { BaseChain, Market } from '../chain.ts';
import { type EthPrice, type FeeBounds, FeeTooHigh, type PricedBatch, priceBatch, type SettleItem } from './batch.ts';
import type { PriceSource } from './quotes.ts';
import { type SettlerKey, signTransaction } from './transaction.ts';

/** A committed and signed batch. From then on only the chain shows its outcome. */
export interface JournalledBatch<I> {
  readonly settlement_id: string;
  readonly key_address: Hex;
  readonly from_block: number;
  readonly items: readonly I[];
  readonly raw: Hex;
  /** Hashes of all transactions that may contain the batch, including replacements. */
  hashes: readonly Hex[];
}

type BatchOutcome<I> =
  | JournalOutcome<JournalledBatch<I>>
  /** The commit was rolled back: the rest of the batch exceeds its limit, or the day's limit is used up. */
  | { readonly kind: 'too_high'; readonly cause: FeeTooHigh };

export interface Batch<I extends SettleItem> {
  readonly items: readonly I[];
  readonly market: Market;
  /** Cost of the batch if none of its claims is lost before the commit. */
  readonly priced: PricedBatch;
  readonly eth_price: EthPrice;
  /** Addresses of the keys that this process may use now. */
  readonly free: readonly Hex[];
  readonly replaces: readonly string[];
}

type JournalParts<I extends SettleItem> = Pick<SettlerOptions<I>, 'random' | 'commitSettling' | 'faults'>;

/**
 * Commits a batch in one database transaction: its claims become `settling`, a nonce is assigned, and the signed bytes are stored.
 */
export async function journalBatch<I extends SettleItem>(
  parts: SettlingParts,
  options: JournalParts<I>,
  batch: Batch<I>,
): Promise<BatchOutcome<I>> {
  const settlement_id = newSettlementId(options.random);
  const outcome = await journal(parts.database, settlement_id, tx => write(tx, parts, options, batch, settlement_id));
  if (outcome.kind === 'failed' && outcome.cause instanceof FeeTooHigh)
    return { kind: 'too_high', cause: outcome.cause };
  return outcome;
}

async function write<I extends SettleItem>(
  tx: Tx,
  parts: SettlingParts,
  { commitSettling, faults }: JournalParts<I>,
  { items, market, priced: foreseen, eth_price, free, replaces }: Batch<I>,
  settlement_id: string,
): Promise<JournalledBatch<I> | null> {
  const from_block = searchStart(market.head.number);
  const moved = await commitSettling(tx, items, { settlement_id, from_block, replaces });
  const kept = items.filter(item => moved.has(item.claim_key));
  if (kept.length === 0) return null;
  // If claims were lost, fewer payments than expected share the fee.
  const { fee_max_atomic, fee_day_max_atomic } = parts.fee_bounds;
  const priced = kept.length === items.length ? foreseen : priceBatch(kept, market, eth_price, fee_max_atomic);
  if (priced.kind !== 'priced') throw new FeeTooHigh('settlement');

  const allocated = await allocateNonce(
    tx,
    market.keys.filter(key => free.includes(key.address)),
    parts.nudge_ms,
  );
  const key = allocated && parts.keys.get(allocated.address);
  if (!key) throw new Error('no settler key could be locked');
  const { raw, hash } = signTransaction(key, { ...priced.submission, nonce: allocated.nonce, fees: priced.fees });
  const valid_before_max = Math.max(...kept.map(({ authorization }) => authorization.valid_before_seconds));
  const birth: NewSettlement = {
    network: 'base',
    settlement_id,
    key_address: key.address,
    authorizations: kept.length,
    from_block,
    valid_before_max,
  };
  journalSettlement(tx, birth, { tx_hash: hash, nonce: allocated.nonce, raw, ...priced.fees });
  const fee = { fee_max_atomic: priced.worst_atomic, eth_price_atomic: eth_price };
  if (!(await reserveFee(tx, settlement_id, fee, fee_day_max_atomic))) throw new FeeTooHigh('day');
  await faults?.reach('in_settling');
  return { settlement_id, key_address: key.address, from_block, items: kept, raw, hashes: [hash] };
}

/**
 * Number of blocks before the head from which a payment is searched for: an hour (2 s each), which reaches back behind any payment
 * that was unused when it was claimed. Someone else may have submitted the authorization just before us, and the head may be
 * outdated or replaced.
 */
const LOOK_BACK_BLOCKS = 1_800;

export function searchStart(block_number: number): number {
  return Math.max(0, block_number - LOOK_BACK_BLOCKS);
}

/** Options of a settler on Base. */
export interface SettlerOptions<I extends SettleItem> extends SettlerParts<I>, SettlerTimes {
  readonly chain: BaseChain;
  /** Private keys of the accounts that pay gas. Several processes may share them. */
  readonly keys: readonly string[];
  readonly clock: Clock;
  /** Limits beyond which no batch is sent for the first time. */
  readonly fee_bounds: FeeBounds;
  readonly eth_price: PriceSource;
  /** Time after which a transaction whose fee is too low is replaced by one with higher fees. */
  readonly stuck_ms: number;
}

/** Dependencies of the steps of settling. Nothing is remembered between two steps, so any process may take the next one. */
export interface SettlingParts {
  readonly chain: BaseChain;
  readonly database: Database;
  /** Keys by address, in the spelling of `settlerKey`. */
  readonly keys: ReadonlyMap<string, SettlerKey>;
  readonly fee_bounds: FeeBounds;
  /** Younger attempts are left to the process that made them. */
  readonly nudge_ms: number;
  readonly stuck_ms: number;
}

export function addresses(parts: SettlingParts): Hex[] {
  return [...parts.keys.values()].map(key => key.address);
}
