import type { Database, Tx } from '../../subgraphs/database.ts';
import { markMined, markRechecked, minedSettlements, type OpenSettlement } from '../../subgraphs/receipt/index.ts';
import { findMined } from './attempts.ts';
import type { ChainReceipt } from './base-shapes.ts';
import type { BaseChain } from './chain.ts';

/** What the finalized chain says of a settlement that was once seen mined. */
export interface Rechecked {
  readonly settlement_id: string;
  /**
   * `final`: where it was seen. `moved`: in another block now, so its payments are to be decided anew.
   * `vanished`: in no block; it is sent again, and its payments are to be decided anew.
   */
  readonly kind: 'final' | 'moved' | 'vanished';
}

const SETTLEMENTS_MAX = 200;

/**
 * Looks at mined settlements again once the finalized block has passed them: a reorganisation may have undone what a
 * receipt was given for. `correct` runs in the transaction that moves the settlement, so no correction is lost.
 */
export async function recheckFinalized(
  { database, chain }: { database: Database; chain: BaseChain },
  correct: (tx: Tx, rechecked: Rechecked) => Promise<void>,
): Promise<readonly Rechecked[]> {
  const seen = await minedSettlements(database, SETTLEMENTS_MAX);
  if (seen.length === 0) return [];
  const finalized = await chain.block('finalized');
  if (finalized.kind !== 'ok' || finalized.value === null) return [];
  const { number } = finalized.value;
  const mined = seen.filter(({ block_number }) => block_number !== null && block_number <= number);
  const receipts = await findMined(chain, mined);
  if (receipts.kind !== 'ok') return [];

  const all: Rechecked[] = [];
  for (const settlement of mined) {
    const receipt = receipts.value(settlement);
    const rechecked = judge(settlement, receipt, number);
    if (rechecked === null && receipt) await markMined(database, settlement.settlement_id, receipt);
    if (rechecked && (await move(database, rechecked, correct))) all.push(rechecked);
  }
  return all;
}

/** Null where it was mined again after the finalized block: too early to say. */
function judge(settlement: OpenSettlement, receipt: ChainReceipt | null, finalized: number): Rechecked | null {
  const { settlement_id, block_hash } = settlement;
  if (receipt === null) return { settlement_id, kind: 'vanished' };
  if (receipt.block_number > finalized) return null;
  return { settlement_id, kind: receipt.block_hash === block_hash ? 'final' : 'moved' };
}

function move(
  database: Database,
  rechecked: Rechecked,
  correct: (tx: Tx, rechecked: Rechecked) => Promise<void>,
): Promise<boolean> {
  const { settlement_id, kind } = rechecked;
  return database.transaction(async tx => {
    if (!(await markRechecked(tx, settlement_id, kind === 'vanished' ? 'sent' : 'final'))) return false;
    if (kind !== 'final') await correct(tx, rechecked);
    return true;
  });
}
