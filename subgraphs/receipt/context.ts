import type { AgentId } from '../../schema/ids.ts';
import type { Context } from '../context.ts';
import type { ForeignTransfers } from '../foreign-transfers.ts';
import type { FreeWalletProofs } from '../wallet-proofs.ts';
import type { Issuer } from './issuer/signing-keys.ts';
import type { LogEntries } from './log/tiles.ts';
import type { Task } from './receipt/task-status.ts';
import type { VerifierKey } from './verify/verifier-key.ts';

/** What the code that shows receipts needs of the process. */
export interface ShowsReceipts extends Context {
  /** Leaves under the newest head of the log that this process knows; null before it knows any. Makes no query. */
  newestSize(): number | null;
}

/** What the receipt subgraph needs of the process. */
export interface ReceiptContext extends ShowsReceipts {
  readonly issuer: Issuer;
  readonly log_entries: LogEntries;
  readonly free_wallets: FreeWalletProofs;
  /** Witnesses whose cosignatures are shown with the log's checkpoints. */
  readonly witnesses: readonly VerifierKey[];
  /** State of a task, whether it has a receipt yet or is still being paid for; null if the id is unknown. */
  findTask(task_id: string): Promise<Task | null>;
  /** Checks who signed a text, on either network. */
  readonly transfers: Pick<ForeignTransfers, 'verifySigner'>;
  /** In the chain's own spelling. Null if there is no such agent. */
  walletOfAgent(agent_id: AgentId): Promise<string | null>;
  /** Cancels a task before its payment is sent; false if it is too late. The caller has checked who bought it. */
  cancelTask(task_id: string): Promise<boolean>;
}
