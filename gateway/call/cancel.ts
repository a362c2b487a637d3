import { atomicAmount } from '../../schema/amount.ts';
import { agentId } from '../../schema/ids.ts';
import { voidReservations } from '../../subgraphs/book/ledger/reserve.ts';
import { type CanceledNotice, type CancelWatcher } from '../../subgraphs/live-channels.ts';
import { cancelClaim, canceledTasksAmong, cancelKeyCall } from '../../subgraphs/receipt/claim/cancel.ts';
import { type CallParts } from './parts.ts';

/**
 * Releases a task that its buyer canceled and returns its reservation, in one transaction. False if its payment may have been
 * sent, or it has ended. Its hub is disconnected but may have done the work, so each cancel is counted by payment, in every
 * process.
 */
export async function cancelPaidTask(
  { database, log }: Pick<CallParts, 'database' | 'log'>,
  task_id: string,
): Promise<boolean> {
  // The database has gone back: a claim that is `claimed` there may have been sent.
  if (log.halt) return false;
  return database.transaction(async tx => {
    const claim = await cancelClaim(tx, task_id);
    if (claim === null) return cancelKeyCall(tx, task_id);
    const { agent_id, reserved_atomic } = claim;
    if (agent_id !== null && reserved_atomic > 0n)
      await voidReservations(tx, [{ agent_id: agentId(agent_id), amount: atomicAmount(reserved_atomic) }]);
    return true;
  });
}

/**
 * Runs in every process, whichever released the task. Null: a notification may have been missed, so running work checks its own
 * claim once. Work whose cancel nobody noticed is completed and then discarded.
 */
export function watchCanceled({
  database,
  underway,
  failures,
}: Pick<CallParts, 'database' | 'underway' | 'failures'>): CancelWatcher {
  const stop = (notice: CanceledNotice) => {
    underway.cancel(notice.task_id);
    failures.canceled(notice);
  };
  const look = async () => {
    for (const notice of await canceledTasksAmong(database, underway.tasks())) stop(notice);
  };
  return notice => {
    if (notice) stop(notice);
    else look().catch(() => {});
  };
}
