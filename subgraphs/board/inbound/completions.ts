import type { NamedWrite } from '../../context.ts';
import type { BoardCompletion } from './completion.entity.ts';

/* What the board needs from the recorder of the log, which signs a receipt of a completion or returns the existing one. */

export type CompletionOutcome =
  /** The receipt of the completion is a leaf of the log, and the tree head that covers it is saved outside the database. */
  | { readonly kind: 'recorded' }
  /** A completion with that source and id was recorded before. */
  | { readonly kind: 'standing'; readonly standing: BoardCompletion }
  /** Nothing was recorded, because the transfer backs something else already. */
  | { readonly kind: 'transfer_taken' };

export interface Completions {
  /**
   * Records a completion. `named`: the Idempotency-Key that is taken in the same transaction, or null without such a header. @throws
   * unavailable if the log is not sound, idempotency_key_in_flight
   */
  record(completion: BoardCompletion, named: NamedWrite | null): Promise<CompletionOutcome>;
  /**
   * Waits until the tree head that covers the receipt of that task is saved outside the database. Called before a receipt is shown that
   * another commit has recorded.
   */
  requireSaved(task_id: string): Promise<void>;
}
