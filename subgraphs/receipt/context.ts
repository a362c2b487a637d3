import type { Context } from '../context.ts';
import type { WalletProofs } from '../wallet-proofs.ts';
import type { Issuer } from './issuer/signing-keys.ts';
import type { LogEntries } from './log/entry-bundle.ts';
import type { Task } from './receipt/task-status.ts';
import type { VerifierKey } from './verify/verifier-key.ts';

/** What whoever shows a receipt needs of the process. */
export interface ShowsReceipts extends Context {
  /** Leaves under the newest head of the log that this process knows; null before it knows any. It asks nobody. */
  newestSize(): number | null;
}

/** What the receipt subgraph needs of the process. */
export interface ReceiptContext extends ShowsReceipts {
  readonly issuer: Issuer;
  readonly log_entries: LogEntries;
  readonly wallets: WalletProofs;
  /** Whose cosignatures are shown with the log's checkpoints. */
  readonly witnesses: readonly VerifierKey[];
  /** Where a task stands, whether it has a receipt yet or is still being paid for; null where the id is unknown. */
  findTask(task_id: string): Promise<Task | null>;
}
