import { atomicAmount } from '../../schema/amount.ts';
import { agentId } from '../../schema/ids.ts';
import { voidReservations } from '../../subgraphs/book/ledger/reserve.ts';
import { type CanceledNotice, type CancelWatcher } from '../../subgraphs/live-channels.ts';
import { cancelClaim, canceledTasksAmong, cancelKeyCall } from '../../subgraphs/receipt/claim/cancel.ts';
import { type CallParts } from './parts.ts';

/**
 * Releases a task that its buyer canceled, and returns its reservation in the same transaction. False if its payment may have been sent, or
 * the task has ended. The connection to its hub ends, but the hub may have done the work, so every process counts each cancel by payment.
 */
export async function cancelPaidTask(
  { database, log }: Pick<CallParts, 'database' | 'log'>,
  task_id: string,
): Promise<boolean> {
  // The database was restored to an older state: a claim that is `claimed` there may have been sent.
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
 * Returns the function that ends canceled work in this process. Every process is notified, because any of them may have released the task.
 * Null as a notice: one may have been missed, so work in progress checks its own claim once. Work whose cancel was not noticed is completed
 * and then discarded.
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
