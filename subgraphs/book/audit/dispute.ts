import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import type { EventRecord } from '../ledger/append.ts';
import type { BookDamageKind } from './damage.ts';

/** A dispute as it is stored. */
export interface StoredDispute {
  readonly dispute_id: string;
  readonly seq: number;
  readonly task_id: string;
  readonly claim_type: string;
  readonly outcome: string | null;
  readonly reason: string;
  /** Position of the last event of the dispute. */
  readonly position: number;
  /** The signed document as text. The members below repeat parts of it. */
  readonly verdict: string;
  readonly revision: number;
  readonly supersedes: string | null;
  readonly standing_task_id: string | null;
  readonly decides_after: Date | null;
  readonly refund_of: string | null;
}

/** Compares a dispute with one of its events, and its outcome and signed bytes with the last one. Null if they match. */
export function disputeFault(
  { position, seq, task_id, body }: Pick<EventRecord, 'position' | 'seq' | 'task_id' | 'body'>,
  disputes: ReadonlyMap<string, StoredDispute>,
): BookDamageKind | null {
  const stored = disputes.get(String(body.dispute_id));
  if (!stored || stored.position < position) return 'dispute_missing';
  const same_row = stored.seq === seq && stored.task_id === task_id && stored.claim_type === body.claim_type;
  if (!same_row) return 'dispute_altered';
  if (stored.position > position) return null;
  const same =
    stored.outcome === (body.outcome ?? null) &&
    stored.reason === body.reason &&
    sha256Hex(stored.verdict) === body.verdict_hash;
  return same && repeatsVerdict(stored) ? null : 'dispute_altered';
}

/**
 * Whether the columns match the signed document. Documents before rule 3 have no `revision` and are not compared: an older process does not
 * write these columns, so they may keep earlier values. A `decides_after` that is kept in this way is not shown once the dispute is
 * decided.
 */
function repeatsVerdict(stored: StoredDispute): boolean {
  const signed = JSON.parse(stored.verdict) as JsonObject;
  if (signed.revision === undefined) return true;
  const owed_back = isJsonObject(signed.owed_back) ? signed.owed_back : {};
  return (
    stored.revision === signed.revision &&
    stored.supersedes === (signed.supersedes ?? null) &&
    stored.standing_task_id === (signed.standing_task_id ?? null) &&
    stored.refund_of === (owed_back.task_id ?? null) &&
    (stored.decides_after?.toISOString() ?? null) === (signed.decides_after ?? null)
  );
}
