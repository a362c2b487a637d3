import type { AgentId } from '../../../schema/ids.ts';
import { type ObservedTransfer, transferSlot } from '../../../schema/observed-transfer.ts';
import { iso } from '../../clock.ts';
import type { Database, Tx } from '../../database.ts';
import type { SeenIn } from '../../foreign-transfers.ts';
import type { IngestFact } from './find.ts';

/*
 * The table of transfers that were recorded. Written in the transaction of the record, under the log's lock, one behind the
 * other: of a row whose payer is proven and one whose payer is not, whichever comes second sees the first.
 */

/** One whose payer is not proven yields to the one whose is; the book is told of that afterwards (yield.ts). */
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

/** A recorded transfer of which it is not known yet whether the final chain has it. */
export interface UnsettledIngest {
  readonly task_id: string;
  readonly agent_id: AgentId;
  readonly transfer: ObservedTransfer;
  readonly seen_in: SeenIn;
}

/**
 * Those that were looked at the longest ago, and that are to be looked at now: soon at first, then after a rest that grows with
 * their age. A block takes minutes to be final, and some chains are never heard of again; each look is five questions to a node.
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

/** No other block can take the place of theirs any more. */
export function markIngestsFinal(tx: Tx, task_ids: readonly string[]): void {
  tx.write({
    name: 'ingests that are final',
    text: `update foreign_ingest set standing = 'final', looked_at = now() where task_id = any($1) and standing = 'pending'`,
    values: [[...task_ids]],
  });
}

/** Still to be looked at; `seen_in` null where nothing could be learnt this time. */
export function markIngestLookedAt(tx: Tx, task_id: string, seen_in: SeenIn | null): void {
  tx.write({
    name: 'ingest that was looked at',
    text: `update foreign_ingest set looked_at = now(), seen_in = coalesce($2::jsonb, seen_in)
      where task_id = $1 and standing = 'pending'`,
    values: [task_id, seen_in && JSON.stringify(seen_in)],
  });
}

/** The final chain does not have them. Returns those of which nobody had said so: their rows want a correction, in this transaction. */
export async function markIngestsVanished(tx: Tx, task_ids: readonly string[]): Promise<readonly string[]> {
  const { rows } = await tx.query<{ task_id: string }>({
    name: 'ingests that vanished',
    text: `update foreign_ingest set standing = 'vanished', looked_at = now()
      where task_id = any($1) and standing = 'pending' returning task_id`,
    values: [[...task_ids]],
  });
  return rows.map(({ task_id }) => task_id);
}
