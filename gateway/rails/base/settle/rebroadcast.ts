import type { Tx } from '../../../../subgraphs/database.ts';
import { raiseFee } from '../../../../subgraphs/receipt/claim/settlement/fee.ts';
import {
  type Attempt,
  abandonSettlement,
  journalAttempt,
  lockForAttempt,
  markMined,
} from '../../../../subgraphs/receipt/claim/settlement/journal.ts';
import { allocateNonce } from '../../../../subgraphs/receipt/claim/settlement/nonce.ts';
import { type OpenSettlement, sentSettlements } from '../../../../subgraphs/receipt/claim/settlement/read.ts';
import type { SettlementPresence } from '../../finality.ts';
import type { ChainAnswer } from '../../rpc.ts';
import type { Hex } from '../abi.ts';
import type { BaseChain, Broadcast, Market } from '../chain.ts';
import { type Fees, feesNow, outbid, REPLACEMENT_CEILING_WEI, replacementFees } from './fees.ts';
import { addresses, type SettlingParts } from './journal.ts';
import { gasOfRaw, signAgain } from './transaction.ts';

const SETTLEMENTS_MAX = 100;

/**
 * Sends committed transactions again that were not seen mined: after a crash before the broadcast, after a node lost the
 * transaction, or after its fee became too low. Lowest nonces come first, since a gap blocks all later ones. It is safe at any time
 * in any process: the same bytes are one transaction, and an authorization moves money once.
 */
export async function rebroadcastOnBase(parts: SettlingParts, keys: readonly Hex[] = addresses(parts)): Promise<void> {
  const sent = (await sentSettlements(parts.database, keys, SETTLEMENTS_MAX)).filter(
    ({ age_ms }) => age_ms >= parts.nudge_ms,
  );
  if (sent.length === 0) return;
  // Counts are read before receipts: if a nonce was used when counted and our receipt is absent afterwards, another transaction
  // used the nonce.
  const counts = await Promise.all(keys.map(key => parts.chain.transactionCount(key, 'latest')));
  const [find, market] = await Promise.all([findMined(parts.chain, sent), parts.chain.market(keys)]);

  for (const settlement of sent) {
    const sighting = find(settlement);
    const count = counts[keys.indexOf(settlement.key_address as Hex)];
    if (sighting.kind === 'mined') await markMined(parts.database, settlement.settlement_id, sighting.receipt);
    else if (market.kind === 'ok') await sendAgain(parts, settlement, market.value, sighting.kind, count);
  }
}

async function sendAgain(
  parts: SettlingParts,
  settlement: OpenSettlement,
  market: Market,
  seen: 'absent' | 'unseen',
  count: ChainAnswer<number> | undefined,
): Promise<void> {
  const newest = settlement.attempts.at(-1);
  if (!newest) return;
  const stuck = settlement.age_ms > parts.stuck_ms;
  if (count?.kind === 'ok' && count.value > newest.nonce) {
    // If a receipt could not be read, our own transaction may have used the nonce.
    if (!stuck || seen === 'unseen') return;
    // All payments in it have expired and no later nonce waits for it, so a new transaction would waste gas.
    if (market.head.timestamp_seconds >= settlement.valid_before_max) await closeSent(parts, settlement, newest);
    else await replace(parts, settlement, newest, market, 'next');
    return;
  }
  const answer = await parts.chain.broadcast(newest.raw as Hex);
  if (stuck && (outbid(newest, feeMarket(market)) || isUnderpriced(answer)))
    await replace(parts, settlement, newest, market, 'same');
}

function closeSent({ database }: SettlingParts, { settlement_id }: OpenSettlement, newest: Attempt): Promise<void> {
  return database.transaction(async tx => {
    if (await lockForAttempt(tx, settlement_id, newest.tx_hash)) await abandonSettlement(tx, settlement_id);
  });
}

function isUnderpriced(answer: ChainAnswer<Broadcast>): boolean {
  return answer.kind === 'ok' && answer.value.kind === 'underpriced';
}

function feeMarket({ head, priority_fee_wei }: Market) {
  return { base_fee_wei: head.base_fee_wei, priority_fee_wei };
}

/**
 * Sends the same call with higher fees for its nonce, or with a new nonce if its own was used by another transaction. The new
 * attempt is stored before it is sent.
 */
async function replace(
  parts: SettlingParts,
  settlement: OpenSettlement,
  newest: Attempt,
  market: Market,
  nonce: 'same' | 'next',
): Promise<void> {
  // A transaction with a new nonce replaces no other, so its fees need not exceed the previous ones.
  const priced =
    nonce === 'next'
      ? feesNow(feeMarket(market), REPLACEMENT_CEILING_WEI)
      : replacementFees(newest, feeMarket(market), REPLACEMENT_CEILING_WEI);
  if (priced.kind !== 'priced') return;
  const attempt = await parts.database.transaction(async tx => {
    if (!(await lockForAttempt(tx, settlement.settlement_id, newest.tx_hash))) return null;
    const made = await nextAttempt(tx, parts, settlement, newest, market, nonce, priced.fees);
    if (!made) return null;
    journalAttempt(tx, settlement.settlement_id, made);
    raiseFee(tx, settlement.settlement_id, gasOfRaw(made.raw as Hex) * made.max_fee_wei);
    return made;
  });
  if (attempt) await parts.chain.broadcast(attempt.raw as Hex);
}

async function nextAttempt(
  tx: Tx,
  parts: SettlingParts,
  { key_address }: OpenSettlement,
  newest: Attempt,
  market: Market,
  nonce: 'same' | 'next',
  fees: Fees,
): Promise<Attempt | null> {
  const key = parts.keys.get(key_address);
  const candidates = market.keys.filter(({ address }) => address === key_address);
  const taken = nonce === 'same' ? newest : await allocateNonce(tx, candidates, parts.nudge_ms);
  if (!key || !taken) return null;
  const { raw, hash } = signAgain(key, newest.raw as Hex, { nonce: taken.nonce, fees });
  return { tx_hash: hash, raw, nonce: taken.nonce, ...fees };
}

/** Hashes of all transactions that may contain a settlement. Of those with the same nonce at most one is ever mined. */
export function hashesOf({ attempts }: OpenSettlement): Hex[] {
  return attempts.map(({ tx_hash }) => tx_hash as Hex);
}

/** Reads the receipts of all settlements at once. Returns a function that looks up one of them. */
export async function findMined(
  chain: BaseChain,
  settlements: readonly OpenSettlement[],
): Promise<(settlement: OpenSettlement) => SettlementPresence> {
  const hashes = settlements.flatMap(hashesOf);
  const receipts = await chain.receipts(hashes);
  const byHash = new Map(receipts.map((receipt, index) => [hashes[index], receipt]));
  return settlement => {
    const own = hashesOf(settlement).map(hash => byHash.get(hash));
    for (const receipt of own)
      if (receipt?.kind === 'ok' && receipt.value) return { kind: 'mined', receipt: receipt.value };
    return own.every(receipt => receipt?.kind === 'ok') ? { kind: 'absent' } : { kind: 'unseen' };
  };
}
