/* Channels of Postgres NOTIFY between processes. Each notice is sent in the transaction of the change that it reports. */

/** The channel on which the ledger sends `<agent_id>:<position>` in the transaction of the event. */
export const BOOK_CHANNEL = 'book_event';
/** The channel on which the board sends its newest position in the transaction of the event. */
export const BOARD_CHANNEL = 'board_event';
/**
 * The channel on which `<delegation_hash>:<position>` is sent for a payment under a delegated session, and the hash alone when the session
 * is revoked.
 */
export const TREE_CHANNEL = 'session_tree';
/** The channel on which `<agent_id>` is sent in the transaction that ends its session. */
export const SESSION_CHANNEL = 'session_end';
/**
 * The channel on which the log's head is sent in the transaction that moves it, and a halt of the log in the transaction that records the
 * halt.
 */
export const LOG_CHANNEL = 'log_head';
/** The channel on which a canceled task and its buyer are sent (`CanceledNotice`, as JSON) in the transaction that cancels it. */
export const CANCELED_CHANNEL = 'task_canceled';

/** Notifies every process that a buyer has canceled a task. */
export interface CanceledNotice {
  readonly task_id: string;
  /** Payer of the payment, and a hash of the address from which it was sent. Null for a call with an API key. */
  readonly by: { readonly payer: string; readonly paid_from_mark: string } | null;
}

/**
 * Called with each notice. Called with null once after every reconnect: notices may have been missed, so the watcher must check its own
 * tasks.
 */
export type CancelWatcher = (notice: CanceledNotice | null) => void;
