import { LRUCache } from 'lru-cache';
import { atomicAmount } from '../../schema/amount.ts';
import { agentId } from '../../schema/ids.ts';
import { voidReservations } from '../../subgraphs/book/ledger/reserve.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { CanceledNotice, CancelWatcher } from '../../subgraphs/live-channels.ts';
import { cancelClaim, canceledOf, cancelKeyCall } from '../../subgraphs/receipt/claim/cancel.ts';
import type { LogStanding } from '../log/open-log.ts';
import type { Failures } from './failures.ts';

export interface CancelParts {
  readonly database: Database;
  readonly log: Pick<LogStanding, 'halt'>;
}

/**
 * Lets go of a task whose buyer wants it no longer, and gives its book back what was held for it, in one transaction. False
 * where its payment may have been sent, or it has come to its end. Whoever works for it is hung up on, and may have worked all
 * the same: so each is counted, by its payment, and by all processes as they hear of it.
 */
export type CancelTask = (task_id: string) => Promise<boolean>;

export function openCancel({ database, log }: CancelParts): CancelTask {
  return async task_id => {
    // It has gone back: a claim that is `claimed` there may have been sent.
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
 * At every process, whichever has let go of it. Null: something may not have been heard, and whoever works looks what became of
 * its own. What nobody heard of is worked for to its end, and comes to nothing there; so no look is repeated.
 */
export function openCancelHearing({ database, underway, failures }: CancelHearing): CancelWatcher {
  const hear = (notice: CanceledNotice) => {
    underway.cancel(notice.task_id);
    failures.canceled(notice);
  };
  const look = async () => {
    for (const notice of await canceledOf(database, underway.tasks())) hear(notice);
  };
  return notice => {
    if (notice) hear(notice);
    else look().catch(() => {});
  };
}

/** Most are worked for elsewhere, or by nobody any more. */
const CANCELED_KNOWN_MAX = 4_096;

/**
 * What this process has others work for, by task: whoever is asked is hung up on once the buyer wants it no longer. That is
 * told by every process to all (`LiveTasks`), since a buyer cancels at whichever they reach.
 */
export class WorkUnderway {
  readonly #working = new Map<string, AbortController>();
  /** One that is canceled between its claim and its work, which has not begun yet, is over as soon as it begins. */
  readonly #canceled = new LRUCache<string, true>({ max: CANCELED_KNOWN_MAX });

  /** `work` is handed what is aborted then; from its end on there is nothing to hang up on. */
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

  /** Whether this process heard that it was canceled. Its claim may say so no longer: the same payment can be claimed anew at once. */
  wasCanceled(task_id: string): boolean {
    return this.#canceled.has(task_id);
  }
}
