import type { AgentId } from '../../../schema/ids.ts';
import { type ObservedTransfer, transferSlot } from '../../../schema/observed-transfer.ts';
import { iso } from '../../clock.ts';
import type { Database, Tx } from '../../database.ts';
import type { ChainPosition } from '../../foreign-transfers.ts';
import type { IngestFact } from './find.ts';

/*
 * Recorded transfers. They are written one after the other under the lock of the log's head. If one transfer has a row with a
 * proven payer and one without, the later write therefore sees the earlier row.
 */

/**
 * Stores the transfer of a row. A row with an unproven payer yields to one with a proven payer, which yield.ts records on the book
 * afterwards.
 */
export function storeIngest(tx: Tx, agent_id: AgentId, fact: IngestFact, at_ms: number): void {
  const { task_id, transfer, seen_in, payer_proven } = fact;
  const slot = transferSlot(transfer);
  tx.write({
    name: 'store ingest',
    text: `insert into foreign_ingest (task_id, agent_id, slot, transfer, seen_in, payer_proven, standing, recorded_at,
        looked_at, yielded_to)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $8,
        case when not $6 then (select task_id from foreign_ingest where slot = $3 and payer_proven limit 1) end)`,
    values: [
      task_id,
      agent_id,
      slot,
      JSON.stringify(transfer),
      JSON.stringify(seen_in),
      payer_proven,
      seen_in.final ? 'final' : 'pending',
      iso(at_ms),
    ],
  });
  if (!payer_proven) return;
  tx.write({
    name: 'let ingests yield',
    text: 'update foreign_ingest set yielded_to = $1 where slot = $2 and not payer_proven and yielded_to is null',
    values: [task_id, slot],
  });
}

/** A recorded transfer that is not known to be final yet. */
export interface UnsettledIngest {
  readonly task_id: string;
  readonly agent_id: AgentId;
  readonly transfer: ObservedTransfer;
  readonly seen_in: ChainPosition;
}

/**
 * Transfers to check now, longest unchecked first. The pause between checks is short at first and grows with the age of the
 * transfer. Blocks take minutes to become final, some chains never respond again, and each check costs five calls to a node.
 */
export async function unsettledIngests(
  { query }: Pick<Database, 'query'>,
  limit: number,
): Promise<readonly UnsettledIngest[]> {
  return query<UnsettledIngest & Record<string, unknown>>({
    name: 'unsettled ingests',
    text: `select task_id, agent_id, transfer, seen_in from foreign_ingest where standing = 'pending'
        and looked_at <= now() - interval '5 seconds'
        and looked_at <= now() - least(interval '10 minutes', (now() - recorded_at) / 4)
      order by looked_at limit $1`,
    values: [limit],
  });
}

/** Marks transfers whose block is final. */
export function markIngestsFinal(tx: Tx, task_ids: readonly string[]): void {
  tx.write({
    name: 'ingests that are final',
    text: `update foreign_ingest set standing = 'final', looked_at = now() where task_id = any($1) and standing = 'pending'`,
    values: [[...task_ids]],
  });
}

/** Marks a transfer that must be checked again. `seen_in` is null if the check found nothing new. */
export function markIngestLookedAt(tx: Tx, task_id: string, seen_in: ChainPosition | null): void {
  tx.write({
    name: 'ingest that was looked at',
    text: `update foreign_ingest set looked_at = now(), seen_in = coalesce($2::jsonb, seen_in)
      where task_id = $1 and standing = 'pending'`,
    values: [task_id, seen_in && JSON.stringify(seen_in)],
  });
}

/**
 * Marks transfers that the final chain does not have. Returns the task ids that were not marked before. The rows of these need a
 * correction in this transaction.
 */
export async function markIngestsVanished(tx: Tx, task_ids: readonly string[]): Promise<readonly string[]> {
  const { rows } = await tx.query<{ task_id: string }>({
    name: 'ingests that vanished',
    text: `update foreign_ingest set standing = 'vanished', looked_at = now()
      where task_id = any($1) and standing = 'pending' returning task_id`,
    values: [[...task_ids]],
  });
  return rows.map(({ task_id }) => task_id);
}
