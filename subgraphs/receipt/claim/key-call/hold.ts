import type { TaskId } from '../../../../schema/ids.ts';
import { limits } from '../../../../schema/limits.ts';
import type { Database, Tx } from '../../../database.ts';
import { alive } from '../lease.ts';

/** A task without a payment that a process works on. As there is no payment that could be used twice, only the task id must be unique. */
export interface KeyCallHold {
  readonly task_id: TaskId;
  readonly lease_owner: string;
}

export function beginKeyCalls(tx: Tx, holds: readonly KeyCallHold[]): void {
  if (holds.length === 0) return;
  tx.write({
    name: 'begin key calls',
    text: `insert into key_call (task_id, lease_owner, begun_at)
      select task_id, lease_owner, now() from jsonb_populate_recordset(null::key_call, $1::jsonb)`,
    values: [JSON.stringify(holds)],
  });
}

/**
 * Ends the holds of a batch that must be recorded as a whole: rows and receipts are in the same transaction.
 * @throws LostKeyCall if one of them was canceled, or deleted because its process had not been seen for too long.
 */
export async function endKeyCalls(tx: Tx, holds: readonly KeyCallHold[]): Promise<void> {
  if (holds.length === 0) return;
  const { rowCount } = await tx.query({
    name: 'end key calls',
    text: `delete from key_call c using jsonb_populate_recordset(null::key_call, $1::jsonb) n
      where c.task_id = n.task_id and c.lease_owner = n.lease_owner and c.canceled_at is null`,
    values: [JSON.stringify(holds)],
  });
  if (rowCount !== holds.length) throw new LostKeyCall();
}

/** The buyer canceled the call, or its process had not been seen for so long that it counted as dead. */
export class LostKeyCall extends Error {
  override name = 'LostKeyCall';
}

/** Deletes the hold of a failed call. The hold of a recorded call is already deleted. */
export function dropKeyCall(tx: Tx, { task_id, lease_owner }: KeyCallHold): void {
  tx.write({
    name: 'drop key call',
    text: 'delete from key_call where task_id = $1 and lease_owner = $2 and canceled_at is null',
    values: [task_id, lease_owner],
  });
}

/** Whether the buyer canceled this call. False again once the canceled call is deleted, see CANCELED_KEPT. */
export async function wasKeyCallCanceled(
  database: Pick<Database, 'query'>,
  { task_id }: KeyCallHold,
): Promise<boolean> {
  const rows = await database.query({
    name: 'was key call canceled',
    text: 'select from key_call where task_id = $1 and canceled_at is not null',
    values: [task_id],
  });
  return rows.length > 0;
}

/** A canceled call is reported as such for as long as answers are kept. */
const CANCELED_KEPT = `interval '${limits.answer_kept_hours} hours'`;

/**
 * Deletes calls whose process is dead, and calls that were canceled long ago. They have no reservation and are owed no answer. Rows that
 * another transaction has locked are skipped.
 */
export async function forgetKeyCalls(database: Pick<Database, 'query'>): Promise<void> {
  await database.query({
    name: 'forget key calls',
    text: `delete from key_call where task_id in (
      select task_id from key_call c
        where case when canceled_at is null then not ${alive('c.lease_owner')} else canceled_at < now() - ${CANCELED_KEPT} end
        for update skip locked)`,
  });
}
