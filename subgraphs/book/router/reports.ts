import type { AgentId } from '../../../schema/ids.ts';
import type { NamedWrite } from '../../context.ts';
import type { CountedUse } from '../../counted-use.ts';
import type { RouterGeneration } from './router-book.entity.ts';

/* Interface to the keeper of the log: issues receipts for reports, or returns the existing one. */

/** A generation to record, under the task of its future receipt. */
export interface GenerationReport {
  readonly generation: RouterGeneration;
  /** Agent whose book gets a row too. */
  readonly agent_id: AgentId | null;
  /** Limits that it counts toward. A full one refuses it. */
  readonly uses: readonly CountedUse[];
  /** Idempotency-Key that is taken with it. Null if none was sent. */
  readonly named: NamedWrite | null;
}

export type ReportOutcome =
  /** The receipt is a leaf of the log, whose head is saved outside the database. */
  | { readonly kind: 'recorded' }
  /** The generation had been recorded before. */
  | { readonly kind: 'standing'; readonly standing: RouterGeneration }
  /** Nothing was recorded, because a limit is reached. */
  | { readonly kind: 'full'; readonly use: CountedUse; readonly seconds: number };

export interface Reports {
  /** @throws unavailable if the log is not sound, book_damaged, idempotency_key_in_flight */
  record(report: GenerationReport): Promise<ReportOutcome>;
  /** Waits until the head of an earlier receipt is saved outside the database too. */
  requireSaved(task_id: string): Promise<void>;
}
