import type { AgentId } from '../../../schema/ids.ts';
import type { NamedWrite } from '../../context.ts';
import type { CountedUse } from '../../counted-use.ts';
import type { RouterGeneration } from './router-book.entity.ts';

/* Interface to the keeper of the log, which issues one receipt per reported generation. */

/** A generation to record. It has the task id of its future receipt. */
export interface GenerationReport {
  readonly generation: RouterGeneration;
  /** Agent whose book gets a row too. Null if the router book names none. */
  readonly agent_id: AgentId | null;
  /** Limits that the report counts toward. It is refused if one of them is reached. */
  readonly uses: readonly CountedUse[];
  /** Idempotency-Key that is stored in the same transaction. Null if none was sent. */
  readonly named: NamedWrite | null;
}

export type ReportOutcome =
  /** The receipt is a leaf of the log, and the tree head is saved outside the database. */
  | { readonly kind: 'recorded' }
  /** The generation had been recorded before. */
  | { readonly kind: 'standing'; readonly standing: RouterGeneration }
  /** Nothing was recorded, because a limit is reached. */
  | { readonly kind: 'full'; readonly use: CountedUse; readonly seconds: number };

export interface Reports {
  /** Records a report and issues its receipt. @throws unavailable if the log is not sound, book_damaged, idempotency_key_in_flight */
  record(report: GenerationReport): Promise<ReportOutcome>;
  /** Waits until the tree head that covers an earlier receipt is saved outside the database. */
  requireSaved(task_id: string): Promise<void>;
}
