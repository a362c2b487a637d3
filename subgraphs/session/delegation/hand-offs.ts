import type { Tx } from '../../database.ts';

/* Interface to the keeper of the log: issues receipts of hand-offs. */

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
  /** Runs in the transaction that issues it, before the head of the log is locked. */
  take(tx: Tx): Promise<void>;
  /** Runs in the same transaction, after its leaf is written. */
  settle(tx: Tx): Promise<void>;
}

export interface HandOffs {
  /**
   * Resolves when its leaf is stored and its head is saved outside the database. @throws unavailable if the log is not sound, and
   * errors of `take` and `settle`
   */
  record(handed: HandedReceipt): Promise<void>;
}
