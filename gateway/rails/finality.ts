import type { NetworkName } from '../../schema/network.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import { type MinedBlock, markMined, markRechecked } from '../../subgraphs/receipt/claim/settlement/journal.ts';
import { minedSettlements, type OpenSettlement } from '../../subgraphs/receipt/claim/settlement/read.ts';

/** State of a mined settlement on the finalized chain. */
export interface RecheckResult {
  readonly settlement_id: string;
  /**
   * `final`: in the same block. `moved`: in another block. `vanished`: in no block, and sent again. Records that were made because
   * of the settlement are marked once and not decided again: its payments move the same money in any block, unless they have
   * expired or failed since.
   */
  readonly kind: 'final' | 'moved' | 'vanished';
}

/** Where the chain has a settlement. `unseen` if the node did not answer for every transaction that may contain it. */
export type SettlementPresence =
  | { readonly kind: 'mined'; readonly receipt: MinedBlock }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unseen' };

const SETTLEMENTS_MAX = 200;

/** Queries about a chain whose settlements are checked again. */
export interface FinalChain {
  readonly database: Database;
  readonly network: NetworkName;
  /** Number of the newest final block; null if unknown. */
  finalized(): Promise<number | null>;
  /** Returns a function that says where the chain has each of the settlements now. */
  find(settlements: readonly OpenSettlement[]): Promise<(settlement: OpenSettlement) => SettlementPresence>;
}

/**
 * Checks mined settlements again once the finalized block has passed them, because a reorganisation may have removed one for which
 * a receipt was issued. `correct` runs in the database transaction that updates the settlement, so that no mark is lost or made
 * twice.
 */
export async function recheckFinalized(
  { database, network, finalized, find: findAll }: FinalChain,
  correct: (tx: Tx, rechecked: RecheckResult) => Promise<void>,
): Promise<readonly RecheckResult[]> {
  const seen = await minedSettlements(database, network, SETTLEMENTS_MAX);
  if (seen.length === 0) return [];
  const number = await finalized();
  if (number === null) return [];
  const mined = seen.filter(({ block_number }) => block_number !== null && block_number <= number);
  const find = await findAll(mined);

  const all: RecheckResult[] = [];
  for (const settlement of mined) {
    const sighting = find(settlement);
    const rechecked = judge(settlement, sighting, number);
    if (rechecked === null && sighting.kind === 'mined')
      await markMined(database, settlement.settlement_id, sighting.receipt);
    if (rechecked && (await move(database, rechecked, correct))) all.push(rechecked);
  }
  return all;
}

/** Null if it is too early: the settlement was mined again after the finalized block, or the node does not show where. */
function judge(settlement: OpenSettlement, sighting: SettlementPresence, finalized: number): RecheckResult | null {
  const { settlement_id, block_hash } = settlement;
  if (sighting.kind === 'unseen') return null;
  if (sighting.kind === 'absent') return { settlement_id, kind: 'vanished' };
  const { receipt } = sighting;
  if (receipt.block_number > finalized) return null;
  return { settlement_id, kind: receipt.block_hash === block_hash ? 'final' : 'moved' };
}

function move(
  database: Database,
  rechecked: RecheckResult,
  correct: (tx: Tx, rechecked: RecheckResult) => Promise<void>,
): Promise<boolean> {
  const { settlement_id, kind } = rechecked;
  return database.transaction(async tx => {
    if (!(await markRechecked(tx, settlement_id, kind === 'vanished' ? 'sent' : 'final'))) return false;
    if (kind !== 'final') await correct(tx, rechecked);
    return true;
  });
}
