import {
  markIngestLookedAt,
  markIngestsFinal,
  markIngestsVanished,
  type UnsettledIngest,
  unsettledIngests,
} from '../../subgraphs/book/ingest/references.ts';
import { annul } from '../../subgraphs/book/ledger/annul.ts';
import type { Clock, Random } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { ForeignTransfers } from '../../subgraphs/foreign-transfers.ts';
import { newTask } from '../../subgraphs/new-task.ts';
import { runEach } from './finish-claims.ts';

const INGESTS_PER_ROUND = 64;
/** Number of payments that are checked at once. Each check takes a few requests to a node. */
const INGESTS_AT_ONCE = 4;

export interface IngestFinalityParts {
  readonly database: Database;
  readonly transfers: Pick<ForeignTransfers, 'standing'>;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Checks transfers again that were recorded before they were final. If the final chain does not have one, its row is corrected in the
 * transaction that marks it. So it is corrected once, even if processes die or several check it at once.
 */
export async function recheckIngests(parts: IngestFinalityParts): Promise<void> {
  const unsettled = await unsettledIngests(parts.database, INGESTS_PER_ROUND);
  await runEach(unsettled, INGESTS_AT_ONCE, one => look(parts, one), 'the second check of ingested payments failed');
}

async function look(
  parts: IngestFinalityParts,
  { task_id, transfer, seen_in }: Omit<UnsettledIngest, 'agent_id'>,
): Promise<void> {
  const { database, clock, random } = parts;
  const standing = await parts.transfers.standing(transfer, seen_in);
  await database.transaction(async tx => {
    if (standing.kind === 'final') return markIngestsFinal(tx, [task_id]);
    if (standing.kind !== 'vanished')
      return markIngestLookedAt(tx, task_id, standing.kind === 'pending' ? standing.seen_in : null);
    const [vanished] = await markIngestsVanished(tx, [task_id]);
    if (vanished === undefined) return;
    const correction_id = newTask({ clock, random });
    const reason = `The final chain of ${transfer.network} does not have this transfer.`;
    await annul(tx, [{ task_id, correction_id, omission_rule: 'transfer_vanished', reason }]);
  });
}
