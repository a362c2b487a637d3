import type { RowRecord } from '../../../schema/book-row.ts';
import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { outsideOf, type Slice } from '../../../schema/slice.ts';
import { requirePossession } from '../../access.ts';
import type { Tx } from '../../database.ts';
import type { BookContext } from '../context.ts';
import { grantOfToken, requireStillGranted, type SliceGrant } from './grant.ts';

/** Caller that records an inflow: the owner (`granted` is null) or the holder of a `collect` token. */
export interface Recorder {
  readonly agent_id: AgentId;
  readonly granted: SliceGrant | null;
}

/** The caller that may record an inflow. A token is read only if no possession was sent. @throws unauthenticated, forbidden */
export async function requireRecorder(
  { principal, database }: Pick<BookContext, 'principal' | 'database'>,
  agentId: number,
): Promise<Recorder> {
  if (principal.possession.kind !== 'absent' || principal.slice === undefined)
    return { agent_id: requirePossession(principal, agentId), granted: null };
  const granted = await grantOfToken(principal, database);
  if (granted?.grant_type !== 'collect' || granted.agent_id !== agentId) throw new Refusal('forbidden');
  return { agent_id: granted.agent_id, granted };
}

/** Checks that a row is in the slice. @throws slice_exceeded */
export function requireInSlice(slice: Slice, row: { readonly task_id: string; readonly at_ms: number }): void {
  const bound = outsideOf(slice, row);
  if (bound === null) return;
  const param = bound === 'task_ids' ? { param: 'task_id' } : {};
  throw new Refusal('slice_exceeded', { ...param, facts: { bound } });
}

/** Checks that a written row is in the slice and that the token is still valid. Call it in the transaction that writes the row. */
export async function requireCollected(
  tx: Tx,
  granted: SliceGrant,
  { task_id, collected_at }: RowRecord,
): Promise<void> {
  requireInSlice(granted.slice, { task_id, at_ms: Date.parse(collected_at) });
  await requireStillGranted(tx, granted);
}

/** The member `recorded_by` of the inflow claim that the issuer signs. */
export function recorderOf({ assignment_id, grantee }: SliceGrant): JsonObject {
  return present({ assignment_id, grantee });
}
