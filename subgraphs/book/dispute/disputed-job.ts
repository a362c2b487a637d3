import type { AgentId, TaskId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';

/** The facts of a paid job that a dispute needs. */
export interface DisputedJob {
  readonly job_id: string;
  readonly paid_at: string;
  /** Null if the author has not challenged the job. */
  readonly challenged_at: string | null;
  /** Null if the output was not revealed. */
  readonly revealed_at: string | null;
  readonly winner_agent_id: AgentId;
  /** Price paid to the winner, in digits of atomic USDC. */
  readonly price: string;
  /** Fee paid to this service for the job, in digits of atomic USDC. */
  readonly fee: string;
  /** Task of the payment of that fee. */
  readonly fee_task_id: TaskId;
}

/** Finds the job whose price or fee was paid by a task. Null if there is none. */
export type JobPaidBy = (reads: Pick<Database, 'query'>, task_id: string) => Promise<DisputedJob | null>;
