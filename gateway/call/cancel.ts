import { LRUCache } from 'lru-cache';
import { atomicAmount } from '../../schema/amount.ts';
import { agentId } from '../../schema/ids.ts';
import { voidReservations } from '../../subgraphs/book/ledger/reserve.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { CanceledNotice, CancelWatcher } from '../../subgraphs/live-channels.ts';
import { cancelClaim, canceledTasksAmong, cancelKeyCall } from '../../subgraphs/receipt/claim/cancel.ts';
import type { LogStanding } from '../log/open-log.ts';
import type { Failures } from './failures.ts';

export interface CancelParts {
  readonly database: Database;
  readonly log: Pick<LogStanding, 'halt'>;
}

/**
 * Releases a task that its buyer canceled and returns its reservation, in one transaction. False if its payment may have been
 * sent, or it has ended. Its hub is disconnected but may have done the work, so each cancel is counted by payment, in every
 * process.
 */
export type CancelTask = (task_id: string) => Promise<boolean>;

export function openCancel({ database, log }: CancelParts): CancelTask {
  return async task_id => {
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
  };
}

export interface CancelHearing {
  readonly database: Pick<Database, 'query'>;
  readonly underway: WorkUnderway;
  readonly failures: Pick<Failures, 'canceled'>;
}

/**
 * Runs in every process, whichever released the task. Null: a notification may have been missed, so running work checks its own
 * claim once. Work whose cancel nobody noticed is completed and then discarded.
 */
export function openCancelHearing({ database, underway, failures }: CancelHearing): CancelWatcher {
  const hear = (notice: CanceledNotice) => {
    underway.cancel(notice.task_id);
    failures.canceled(notice);
  };
  const look = async () => {
    for (const notice of await canceledTasksAmong(database, underway.tasks())) hear(notice);
  };
  return notice => {
    if (notice) hear(notice);
    else look().catch(() => {});
  };
}

/** Most canceled tasks are worked on elsewhere, or no longer. */
const CANCELED_KNOWN_MAX = 4_096;

/**
 * Work in progress in this process, by task, so that its hub is disconnected once the buyer cancels. Every process notifies all
 * (`LiveTasks`), since a buyer may cancel at any of them.
 */
export class WorkUnderway {
  readonly #working = new Map<string, AbortController>();
  /** A task canceled between its claim and its work ends as soon as the work begins. */
  readonly #canceled = new LRUCache<string, true>({ max: CANCELED_KNOWN_MAX });

  /** `work` gets a signal that aborts on cancel; after its end there is nothing to abort. */
  async during<T>(task_id: string, work: (canceled: AbortSignal) => Promise<T>): Promise<T> {
    const canceling = new AbortController();
    this.#working.set(task_id, canceling);
    if (this.#canceled.has(task_id)) canceling.abort();
    try {
      return await work(canceling.signal);
    } finally {
      this.#working.delete(task_id);
    }
  }

  tasks(): readonly string[] {
    return [...this.#working.keys()];
  }

  cancel(task_id: string): void {
    this.#canceled.set(task_id, true);
    this.#working.get(task_id)?.abort();
  }

  /**
   * Whether this process noticed a cancel. The claim may no longer say so, because the same payment can be claimed again at once.
   */
  wasCanceled(task_id: string): boolean {
    return this.#canceled.has(task_id);
  }
}
