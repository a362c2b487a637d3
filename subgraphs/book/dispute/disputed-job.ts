import type { AgentId, TaskId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';

/** The facts of a paid job that a dispute needs. */
export interface DisputedJob {
  readonly job_id: string;
  readonly paid_at: string;
  /** Null if the poster has not challenged it. */
  readonly challenged_at: string | null;
  /** Null if the output was not revealed. */
  readonly revealed_at: string | null;
  readonly winner_agent_id: AgentId;
  /** Price paid to the winner, in digits of atomic USDC. */
  readonly price: string;
  /** Fee paid to this service for it, and the task of that payment. */
  readonly fee: string;
  readonly fee_task_id: TaskId;
}

/** The job that a task paid for, to its winner or to this service. Null if there is none. */
export type JobPaidBy = (reads: Pick<Database, 'query'>, task_id: string) => Promise<DisputedJob | null>;
