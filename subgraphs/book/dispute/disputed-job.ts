import type { AgentId, TaskId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';

/** A job of the board that was paid for, as far as a dispute of its rows asks. */
export interface DisputedJob {
  readonly job_id: string;
  readonly paid_at: string;
  /** Null where its poster has not said that nothing came. */
  readonly challenged_at: string | null;
  /** Null where the output has not been revealed. */
  readonly revealed_at: string | null;
  readonly winner_agent_id: AgentId;
  /** Atomic USDC, digits: what its winner was paid. */
  readonly price: string;
  /** What this service was paid for it, and the task of that payment. */
  readonly fee: string;
  readonly fee_task_id: TaskId;
}

/** The job that a task has paid for, to its winner or to this service; null where it is of no job. */
export type JobPaidBy = (reads: Pick<Database, 'query'>, task_id: string) => Promise<DisputedJob | null>;
