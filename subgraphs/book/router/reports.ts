import type { AgentId } from '../../../schema/ids.ts';
import type { NamedWrite } from '../../context.ts';
import type { CountedUse } from '../../counted-use.ts';
import type { RouterGeneration } from './router-book.entity.ts';

/* What this subgraph needs of whoever keeps the log: a receipt of what was reported, or that there is one. */

/** A generation that is to be recorded, under the task that its receipt would have. */
export interface GenerationReport {
  readonly generation: RouterGeneration;
  /** On whose book it lands as well. */
  readonly agent_id: AgentId | null;
  /** What it counts against; one that is full refuses it. */
  readonly uses: readonly CountedUse[];
  /** The Idempotency-Key that is taken with it; null where none came. */
  readonly named: NamedWrite | null;
}

export type ReportOutcome =
  /** Its receipt is a leaf of the log, whose head is saved outside the database. */
  | { readonly kind: 'recorded' }
  /** One was recorded before; the same of that. */
  | { readonly kind: 'standing'; readonly standing: RouterGeneration }
  /** Nothing of it stands: a count that it would have been one of is full. */
  | { readonly kind: 'full'; readonly use: CountedUse; readonly seconds: number };

export interface Reports {
  /** @throws unavailable where the log is not sound, book_damaged, idempotency_key_in_flight */
  record(report: GenerationReport): Promise<ReportOutcome>;
  /** Before a receipt of another commit is told of: the head that it stands under is saved outside the database, too. */
  requireSaved(task_id: string): Promise<void>;
}
