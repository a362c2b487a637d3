import type { AgentId } from '../../schema/ids.ts';
import type { Context } from '../context.ts';
import type { ForeignTransfers } from '../foreign-transfers.ts';
import type { FreeWalletProofs } from '../wallet-proofs.ts';
import type { Issuer } from './issuer/signing-keys.ts';
import type { LogEntries } from './log/tiles.ts';
import type { Task } from './receipt/task-status.ts';
import type { VerifierKey } from './verify/verifier-key.ts';

/** What code that shows receipts needs from the process. */
export interface ShowsReceipts extends Context {
  /** Number of leaves under the newest tree head that this process has read. Null if it has read none. Makes no query. */
  newestSize(): number | null;
}

/** What the receipt subgraph needs from the process. */
export interface ReceiptContext extends ShowsReceipts {
  readonly issuer: Issuer;
  readonly log_entries: LogEntries;
  readonly free_wallets: FreeWalletProofs;
  /** Witnesses whose cosignatures are shown with the log's checkpoints. */
  readonly witnesses: readonly VerifierKey[];
  /** State of a task, which may have a receipt already or still be in payment. Null if the id is unknown. */
  findTask(task_id: string): Promise<Task | null>;
  /** Checks whether a payer on any of the networks signed a text. */
  readonly transfers: Pick<ForeignTransfers, 'verifySigner'>;
  /** Wallet of an agent, in the chain's own spelling. Null if the agent does not exist. */
  walletOfAgent(agent_id: AgentId): Promise<string | null>;
  /** Cancels a task before its payment is sent. False if it is too late. The caller must have checked who bought the task. */
  cancelTask(task_id: string): Promise<boolean>;
}
