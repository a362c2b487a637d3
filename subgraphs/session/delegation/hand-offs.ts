import type { Tx } from '../../database.ts';

/* What this subgraph needs of whoever keeps the log: a receipt of what was handed on. */

/** A receipt that is to be made for another agent. */
export interface HandedReceipt {
  readonly task_id: string;
  readonly parent_receipt_id: string;
  readonly target_agent: number;
  readonly request_hash: string;
  readonly delegation_hash: string;
  readonly agent_pubkey: string;
  readonly session_expiry: number;
  readonly valid_after: number;
  /** In the transaction that makes it, before the log's head is locked. */
  take(tx: Tx): Promise<void>;
  /** In the same, once its leaf is written. */
  settle(tx: Tx): Promise<void>;
}

export interface HandOffs {
  /** Its leaf stands, and its head is saved outside the database. @throws unavailable where the log is not sound, and what `take` and `settle` throw */
  record(handed: HandedReceipt): Promise<void>;
}
