import type { Random } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import type { AnchorAttempt } from '../../../subgraphs/receipt/log/anchor.entity.ts';
import {
  type AnchorPlace,
  anchorStanding,
  journalAnchor,
  journalReplacement,
  minedAnchors,
  moveAnchor,
  type NewAnchor,
  type OpenAnchor,
  openAnchor,
} from '../../../subgraphs/receipt/log/anchor-journal.ts';
import type { TreeHeadFacts } from '../../../subgraphs/receipt/log/tree-head.ts';
import type { Hex } from '../../rails/base/abi.ts';
import type { BaseChain } from '../../rails/base/chain.ts';
import { type Fees, feesNow, outbid, replacementFees } from '../../rails/base/settle/fees.ts';
import { type SettlerKey, signAgain, signTransaction } from '../../rails/base/settle/transaction.ts';
import { all } from '../../rails/rpc.ts';
import { type AnchorChain, type AnchorReceipt, anchorCall, deployment, gasLimits, LOG_ANCHOR } from './anchor-chain.ts';

/** Reason why nothing is anchored, as `/health` shows it. */
export type AnchorTrouble =
  | 'chain_unavailable'
  /** The key's balance does not cover one transaction. */
  | 'unfunded'
  /** The rest of ANCHOR_FEE_DAY_MAX does not cover a transaction at current fees. */
  | 'fee_too_high'
  /** The transaction pays current fees but has not been included for a long time. */
  | 'not_mined'
  /** The transaction was mined without effect. */
  | 'void';

/** Result of one step. */
export type StepOutcome =
  /** There is nothing to anchor, or it is not due yet. */
  | { readonly kind: 'still' }
  /** A transaction was sent. Only the chain shows its outcome. */
  | { readonly kind: 'sent'; readonly tx_hash: string }
  /** The transaction that deploys the contract was mined. */
  | { readonly kind: 'deployed' }
  | { readonly kind: 'anchored'; readonly tx_hash: string }
  | { readonly kind: 'trouble'; readonly trouble: AnchorTrouble; readonly cause?: unknown };

/** Points at which a test may end the process. */
export type AnchorFaults = (point: 'after_journal' | 'after_broadcast') => Promise<void>;

export interface AnchorerParts {
  readonly database: Database;
  readonly chain: Pick<BaseChain, 'market' | 'broadcast' | 'transactionCount' | 'code'>;
  readonly anchors: Pick<AnchorChain, 'receipt'>;
  readonly key: SettlerKey;
  readonly random: Random;
  readonly pace_ms: number;
  readonly fee_day_max_wei: bigint;
  /** Time after which a transaction that is not mined is examined. */
  readonly stuck_ms: number;
  readonly faults?: AnchorFaults | undefined;
}

/** The parts for anchoring with one key on one chain. */
export interface OpenAnchorer extends AnchorerParts {
  readonly place: AnchorPlace;
}

function chainUnavailable(cause: unknown): StepOutcome {
  return { kind: 'trouble', trouble: 'chain_unavailable', cause };
}

/**
 * Takes one step, in any process. If a transaction is open, it is followed. Otherwise, if the log has grown and an anchor is due, the next
 * transaction is signed, stored, and then sent. `on_demand`: does not wait for the schedule.
 */
export async function advanceAnchor(
  anchorer: OpenAnchorer,
  grown: TreeHeadFacts | null,
  on_demand: boolean,
): Promise<StepOutcome> {
  const open = await openAnchor(anchorer.database, anchorer.place);
  if (open) return follow(anchorer, open);
  return grown === null ? { kind: 'still' } : begin(anchorer, grown, on_demand ? null : anchorer.pace_ms);
}

async function begin(anchorer: OpenAnchorer, head: TreeHeadFacts, pace_ms: number | null): Promise<StepOutcome> {
  const { chain, database, fee_day_max_wei, key, place } = anchorer;
  const { due, spent_wei } = await anchorStanding(database, place, { purpose: 'anchor', pace_ms });
  if (!due) return { kind: 'still' };
  const [market, nonce, code] = await Promise.all([
    chain.market([key.address]),
    // The pending count is not used, because a nonce that follows one that the pool loses would wait for ever.
    chain.transactionCount(key.address, 'latest'),
    chain.code(LOG_ANCHOR),
  ]);
  if (market.kind !== 'ok') return chainUnavailable(market.cause);
  if (nonce.kind !== 'ok') return chainUnavailable(nonce.cause);
  if (code.kind !== 'ok') return chainUnavailable(code.cause);

  const purpose = code.value === '0x' ? 'deployment' : 'anchor';
  const gas = gasLimits[purpose];
  const { head: block, priority_fee_wei, keys } = market.value;
  // The rest of the day's limit is the ceiling of this transaction, because nothing else uses it.
  const ceiling_wei = (fee_day_max_wei - spent_wei) / BigInt(gas);
  const priced = feesNow({ base_fee_wei: block.base_fee_wei, priority_fee_wei }, ceiling_wei);
  if (priced.kind !== 'priced') return { kind: 'trouble', trouble: 'fee_too_high' };
  const fee_max_wei = BigInt(gas) * priced.fees.max_fee_wei;
  if ((keys[0]?.balance_wei ?? 0n) < fee_max_wei) return { kind: 'trouble', trouble: 'unfunded' };

  const call = purpose === 'anchor' ? anchorCall(head) : deployment;
  const { raw, hash } = signTransaction(key, { ...call, nonce: nonce.value, gas, fees: priced.fees });
  const { max_fee_wei } = priced.fees;
  return send(anchorer, pace_ms, {
    anchor_id: `anc_${Buffer.from(anchorer.random.bytes(16)).toString('hex')}`,
    purpose,
    head,
    nonce: nonce.value,
    fee_max_wei,
    attempt: {
      tx_hash: hash,
      raw,
      max_fee_wei: String(max_fee_wei),
      priority_fee_wei: String(priced.fees.priority_fee_wei),
    },
  });
}

async function send(anchorer: OpenAnchorer, pace_ms: number | null, birth: NewAnchor): Promise<StepOutcome> {
  const { chain, database, faults, fee_day_max_wei, place } = anchorer;
  const journalled = await journalAnchor(database, place, birth, { fee_day_max_wei, pace_ms });
  if (journalled.kind === 'over_budget') return { kind: 'trouble', trouble: 'fee_too_high' };
  if (journalled.kind === 'not_due') return { kind: 'still' };
  await faults?.('after_journal');
  // The node's response does not matter, because the transaction is followed until the chain shows it.
  await chain.broadcast(birth.attempt.raw as `0x${string}`);
  await faults?.('after_broadcast');
  return { kind: 'sent', tx_hash: birth.attempt.tx_hash };
}

/** Looks up a stored transaction, and sends it again if the chain does not have it. The same bytes are always one transaction. */
async function follow(anchorer: OpenAnchorer, open: OpenAnchor): Promise<StepOutcome> {
  const { anchors, chain, key, stuck_ms } = anchorer;
  // The count is read before the receipts. If the nonce was used by then and there is no receipt afterwards, another transaction used it.
  const count = await chain.transactionCount(key.address, 'latest');
  const hashes = open.attempts.map(({ tx_hash }) => tx_hash as Hex);
  const receipts = all(await Promise.all(hashes.map(hash => anchors.receipt(hash, key.address))));
  if (count.kind !== 'ok') return chainUnavailable(count.cause);
  if (receipts.kind !== 'ok') return chainUnavailable(receipts.cause);
  const at = receipts.value.findIndex(receipt => receipt !== null);
  const [receipt, hash] = [receipts.value[at], hashes[at]];
  if (receipt && hash) return land(anchorer, open, hash, receipt);

  const newest = open.attempts.at(-1) as AnchorAttempt;
  const stuck = open.age_ms > stuck_ms;
  if (count.value > open.nonce) {
    // Nodes behind one URL receive a block at different times. So only after a delay is it certain that another transaction used the nonce.
    if (stuck) await moveAnchor(anchorer.database, open.anchor_id, ['sent', 'lost']);
  } else {
    const answer = await chain.broadcast(newest.raw as Hex);
    if (answer.kind !== 'ok') return chainUnavailable(answer.cause);
    const { value } = answer;
    if (value.kind === 'turned_down' && /insufficient funds/i.test(value.message))
      return { kind: 'trouble', trouble: 'unfunded' };
    if (stuck) return replace(anchorer, open, newest, value.kind === 'underpriced');
  }
  return { kind: 'sent', tx_hash: newest.tx_hash };
}

/**
 * Records a mined transaction. The status of its receipt does not prove an anchor, because a call to an address without code succeeds too.
 */
async function land(
  anchorer: OpenAnchorer,
  open: OpenAnchor,
  tx_hash: Hex,
  receipt: AnchorReceipt,
): Promise<StepOutcome> {
  const { purpose, tree_size, root_hash } = open;
  const shows = receipt.anchored.some(it => it.tree_size === tree_size && it.root_hash === root_hash);
  const effective = purpose === 'deployment' ? receipt.succeeded : shows;
  const { block_number, fee_wei } = receipt;
  const landing = { tx_hash, block_number, fee_wei };
  await moveAnchor(anchorer.database, open.anchor_id, ['sent', effective ? 'mined' : 'void'], landing);
  if (!effective) return { kind: 'trouble', trouble: 'void' };
  return purpose === 'deployment' ? { kind: 'deployed' } : { kind: 'anchored', tx_hash };
}

async function replace(
  anchorer: OpenAnchorer,
  open: OpenAnchor,
  newest: AnchorAttempt,
  refused: boolean,
): Promise<StepOutcome> {
  const { chain, database, fee_day_max_wei, key, place } = anchorer;
  const market = await chain.market([key.address]);
  if (market.kind !== 'ok') return chainUnavailable(market.cause);
  const asked = { base_fee_wei: market.value.head.base_fee_wei, priority_fee_wei: market.value.priority_fee_wei };
  const before = feesOf(newest);
  if (!refused && !outbid(before, asked)) return { kind: 'trouble', trouble: 'not_mined' };
  const gas = BigInt(gasLimits[open.purpose]);
  const priced = replacementFees(before, asked, fee_day_max_wei / gas);
  if (priced.kind !== 'priced') return { kind: 'trouble', trouble: 'fee_too_high' };
  const { raw, hash } = signAgain(key, newest.raw as Hex, { nonce: open.nonce, fees: priced.fees });
  const { max_fee_wei, priority_fee_wei } = priced.fees;
  const attempt = {
    tx_hash: hash,
    raw,
    max_fee_wei: String(max_fee_wei),
    priority_fee_wei: String(priority_fee_wei),
  };
  const born = { attempt, fee_max_wei: gas * max_fee_wei };
  if (!(await journalReplacement(database, place, open, born, fee_day_max_wei)))
    return { kind: 'trouble', trouble: 'fee_too_high' };
  await chain.broadcast(raw);
  return { kind: 'sent', tx_hash: hash };
}

function feesOf({ max_fee_wei, priority_fee_wei }: AnchorAttempt): Fees {
  return { max_fee_wei: BigInt(max_fee_wei), priority_fee_wei: BigInt(priority_fee_wei) };
}

const MINED_MAX = 20;

/**
 * Checks mined anchors again once the finalized block has passed them. Returns the transaction hashes of those whose block was replaced by
 * a block without them: their heads are no longer anchored.
 */
export async function recheck(anchorer: OpenAnchorer, chain: Pick<BaseChain, 'block'>): Promise<readonly string[]> {
  const { anchors, database, key, place } = anchorer;
  const mined = await minedAnchors(database, place, MINED_MAX);
  const final = mined.length === 0 ? null : await chain.block('finalized');
  if (final?.kind !== 'ok' || final.value === null) return [];
  const vanished: string[] = [];
  for (const { anchor_id, tx_hash, block_number } of mined) {
    if (block_number > final.value.number) continue;
    const receipt = await anchors.receipt(tx_hash as Hex, key.address);
    if (receipt.kind !== 'ok') continue;
    if (receipt.value === null) vanished.push(tx_hash);
    if (receipt.value && receipt.value.block_number > final.value.number) continue;
    await moveAnchor(database, anchor_id, ['mined', receipt.value === null ? 'lost' : 'final']);
  }
  return vanished;
}
