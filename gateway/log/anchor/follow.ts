import { type AnchorAttempt } from '../../../subgraphs/receipt/log/anchor.entity.ts';
import {
  journalReplacement,
  minedAnchors,
  moveAnchor,
  type OpenAnchor,
} from '../../../subgraphs/receipt/log/anchor-journal.ts';
import type { Hex } from '../../rails/base/abi.ts';
import type { BaseChain } from '../../rails/base/chain.ts';
import { type Fees, feesBumped, outbid } from '../../rails/base/settle/fees.ts';
import { signAgain } from '../../rails/base/settle/transaction.ts';
import { all } from '../../rails/rpc.ts';
import type { AnchorReceipt } from './anchor-chain.ts';
import { gasLimits } from './contract.ts';
import { type AnchorDesk, away, type Move } from './desk.ts';

/** Looks for one that was journalled, and sends it again where the chain does not show it: the same bytes are one transaction. */
export async function follow(desk: AnchorDesk, open: OpenAnchor): Promise<Move> {
  const { anchors, chain, key, stuck_ms } = desk;
  // The count before the receipts: a nonce that was used up by then, without a receipt now, was used by something else.
  const count = await chain.transactionCount(key.address, 'latest');
  const hashes = open.attempts.map(({ tx_hash }) => tx_hash as Hex);
  const receipts = all(await Promise.all(hashes.map(hash => anchors.receipt(hash, key.address))));
  if (count.kind !== 'ok') return away(count.cause);
  if (receipts.kind !== 'ok') return away(receipts.cause);
  const at = receipts.value.findIndex(receipt => receipt !== null);
  const [receipt, hash] = [receipts.value[at], hashes[at]];
  if (receipt && hash) return land(desk, open, hash, receipt);

  const newest = open.attempts.at(-1) as AnchorAttempt;
  const stuck = open.age_ms > stuck_ms;
  if (count.value > open.nonce) {
    // Nodes behind one name do not see a block at the same time: only later is it known that it is none of ours.
    if (stuck) await moveAnchor(desk.database, open.anchor_id, ['sent', 'lost']);
  } else {
    const answer = await chain.broadcast(newest.raw as Hex);
    if (answer.kind !== 'ok') return away(answer.cause);
    const { value } = answer;
    if (value.kind === 'turned_down' && /insufficient funds/i.test(value.message))
      return { kind: 'trouble', trouble: 'unfunded' };
    if (stuck) return replace(desk, open, newest, value.kind === 'underpriced');
  }
  return { kind: 'sent', tx_hash: newest.tx_hash };
}

/** A receipt's status proves nothing: a call to where no code stands succeeds too. */
async function land(desk: AnchorDesk, open: OpenAnchor, tx_hash: Hex, receipt: AnchorReceipt): Promise<Move> {
  const { purpose, tree_size, root_hash } = open;
  const shows = receipt.anchored.some(it => it.tree_size === tree_size && it.root_hash === root_hash);
  const effective = purpose === 'deployment' ? receipt.succeeded : shows;
  const { block_number, fee_wei } = receipt;
  const landing = { tx_hash, block_number, fee_wei };
  await moveAnchor(desk.database, open.anchor_id, ['sent', effective ? 'mined' : 'void'], landing);
  if (!effective) return { kind: 'trouble', trouble: 'void' };
  return purpose === 'deployment' ? { kind: 'deployed' } : { kind: 'anchored', tx_hash };
}

async function replace(desk: AnchorDesk, open: OpenAnchor, newest: AnchorAttempt, refused: boolean): Promise<Move> {
  const { chain, database, fee_day_max_wei, key, place } = desk;
  const market = await chain.market([key.address]);
  if (market.kind !== 'ok') return away(market.cause);
  const asked = { base_fee_wei: market.value.head.base_fee_wei, priority_fee_wei: market.value.priority_fee_wei };
  const before = feesOf(newest);
  if (!refused && !outbid(before, asked)) return { kind: 'trouble', trouble: 'not_mined' };
  const gas = BigInt(gasLimits[open.purpose]);
  const priced = feesBumped(before, asked, fee_day_max_wei / gas);
  if (priced.kind !== 'priced') return { kind: 'trouble', trouble: 'fee_too_high' };
  const { raw, hash } = signAgain(key, newest.raw as Hex, { nonce: open.nonce, fees: priced.fees });
  const { max_fee_wei, priority_fee_wei } = priced.fees;
  const attempt = {
    ...{ tx_hash: hash, raw },
    ...{ max_fee_wei: String(max_fee_wei), priority_fee_wei: String(priority_fee_wei) },
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
 * Looks again at what was mined, once the finalized block has passed it. Returns those whose block was replaced by one
 * without them: the head that they anchored is anchored no longer.
 */
export async function recheck(desk: AnchorDesk, chain: Pick<BaseChain, 'block'>): Promise<readonly string[]> {
  const { anchors, database, key, place } = desk;
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
