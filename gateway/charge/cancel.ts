import { atomicAmount } from '../../schema/amount.ts';
import { agentId } from '../../schema/ids.ts';
import { voidReservations } from '../../subgraphs/book/ledger/reserve.ts';
import type { Database } from '../../subgraphs/database.ts';
import { cancelClaim, cancelKeyCall } from '../../subgraphs/receipt/claim/cancel.ts';
import type { LogStanding } from '../log/open-log.ts';

export interface CancelParts {
  readonly database: Database;
  readonly log: Pick<LogStanding, 'halt'>;
}

/**
 * Lets go of a task whose buyer wants it no longer, and gives its book back what was held for it, in one transaction. False
 * where its payment may have been sent, or it has come to its end. Whoever works for it goes on until it asks for its money.
 */
export type CancelTask = (task_id: string) => Promise<boolean>;

export function openCancel({ database, log }: CancelParts): CancelTask {
  return async task_id => {
    // It has gone back: a claim that is `claimed` there may have been sent.
    if (log.halt) return false;
    return database.transaction(async tx => {
      const canceled = await cancelClaim(tx, task_id);
      if (canceled === null) return cancelKeyCall(tx, task_id);
      const { agent_id, reserved_atomic } = canceled;
      if (agent_id !== null && reserved_atomic > 0n)
        await voidReservations(tx, [{ agent_id: agentId(agent_id), amount: atomicAmount(reserved_atomic) }]);
      return true;
    });
  };
}
