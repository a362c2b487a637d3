import type { Context } from '../context.ts';
import type { Issuer } from './issuer/signing-keys.ts';
import type { Task } from './receipt/task-status.ts';

/** What the receipt subgraph needs of the process. */
export interface ReceiptContext extends Context {
  readonly issuer: Issuer;
  /** Where a task stands, whether it has a receipt yet or is still being paid for; null where the id is unknown. */
  findTask(task_id: string): Promise<Task | null>;
}
