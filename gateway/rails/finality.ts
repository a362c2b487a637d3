import type { NetworkName } from '../../schema/network.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import { type MinedBlock, markMined, markRechecked } from '../../subgraphs/receipt/claim/settlement/journal.ts';
import { minedSettlements, type OpenSettlement } from '../../subgraphs/receipt/claim/settlement/read.ts';

/** What the finalized chain says of a settlement that was once seen mined. */
export interface Rechecked {
  readonly settlement_id: string;
  /**
   * `final`: where it was seen. `moved`: in another block now. `vanished`: in no block, and sent again. What was
   * recorded on the strength of it is only noted, once, and not decided anew: its payments move the same money in
   * whichever block takes them, but for one that has expired or failed since.
   */
  readonly kind: 'final' | 'moved' | 'vanished';
}

/** Where the chain has a settlement; `unseen`: the node did not say of every transaction that may carry it. */
export type Sighting =
  | { readonly kind: 'mined'; readonly receipt: MinedBlock }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unseen' };

const SETTLEMENTS_MAX = 200;

/** A chain whose settlements are looked at again. */
export interface FinalChain {
  readonly database: Database;
  readonly network: NetworkName;
  /** The newest block that no other can take the place of; null where it cannot be had. */
  finalized(): Promise<number | null>;
  /** Where the chain has each of them now. */
  find(settlements: readonly OpenSettlement[]): Promise<(settlement: OpenSettlement) => Sighting>;
}

/**
 * Looks at mined settlements again once the finalized block has passed them: a reorganisation may have undone what a
 * receipt was given for. `correct` runs in the transaction that moves the settlement, so no note is lost or made twice.
 */
export async function recheckFinalized(
  { database, network, finalized, find: findAll }: FinalChain,
  correct: (tx: Tx, rechecked: Rechecked) => Promise<void>,
): Promise<readonly Rechecked[]> {
  const seen = await minedSettlements(database, network, SETTLEMENTS_MAX);
  if (seen.length === 0) return [];
  const number = await finalized();
  if (number === null) return [];
  const mined = seen.filter(({ block_number }) => block_number !== null && block_number <= number);
  const find = await findAll(mined);

  const all: Rechecked[] = [];
  for (const settlement of mined) {
    const sighting = find(settlement);
    const rechecked = judge(settlement, sighting, number);
    if (rechecked === null && sighting.kind === 'mined')
      await markMined(database, settlement.settlement_id, sighting.receipt);
    if (rechecked && (await move(database, rechecked, correct))) all.push(rechecked);
  }
  return all;
}

/** Null where it is too early to say: it was mined again after the finalized block, or the node does not say where. */
function judge(settlement: OpenSettlement, sighting: Sighting, finalized: number): Rechecked | null {
  const { settlement_id, block_hash } = settlement;
  if (sighting.kind === 'unseen') return null;
  if (sighting.kind === 'absent') return { settlement_id, kind: 'vanished' };
  const { receipt } = sighting;
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
