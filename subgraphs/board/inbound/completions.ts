import type { NamedWrite } from '../../context.ts';
import type { BoardCompletion } from './completion.entity.ts';

/* What the board needs from the log's recorder: a receipt of a completion, or the existing one. */

export type CompletionOutcome =
  /** Its receipt is a leaf of the log, whose head is saved outside the database. */
  | { readonly kind: 'recorded' }
  /** A completion with that source and id was recorded before. */
  | { readonly kind: 'standing'; readonly standing: BoardCompletion }
  /** Nothing was recorded: its transfer backs something else. */
  | { readonly kind: 'transfer_taken' };

export interface Completions {
  /**
   * `named`: the Idempotency-Key that is taken with it, if one came. @throws unavailable if the log is not sound, idempotency_key_in_flight
   */
  record(completion: BoardCompletion, named: NamedWrite | null): Promise<CompletionOutcome>;
  /** Before a receipt of another commit is shown, the head above it is saved outside the database too. */
  requireSaved(task_id: string): Promise<void>;
}
