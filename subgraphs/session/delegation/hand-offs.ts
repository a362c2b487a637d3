import type { Tx } from '../../database.ts';

/* Interface to the keeper of the log, which issues the receipts of hand-offs. */

/** A receipt to issue for another agent. */
export interface HandedReceipt {
  readonly task_id: string;
  readonly parent_receipt_id: string;
  readonly target_agent: number;
  readonly request_hash: string;
  readonly delegation_hash: string;
  readonly agent_pubkey: string;
  readonly session_expiry: number;
  readonly valid_after: number;
  /** Runs in the transaction that issues the receipt, before the head of the log is locked. */
  take(tx: Tx): Promise<void>;
  /** Runs in the same transaction, after the leaf of the receipt is written. */
  settle(tx: Tx): Promise<void>;
}

export interface HandOffs {
  /**
   * Issues the receipt. Resolves when its leaf is stored and the tree head is saved outside the database. @throws unavailable if the log
   * is not sound, and the errors of `take` and `settle`
   */
  record(handed: HandedReceipt): Promise<void>;
}
