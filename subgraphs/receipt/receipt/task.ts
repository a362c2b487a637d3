import 'reflect-metadata';
import { Field, ObjectType } from 'type-graphql';
import type { ProofOutcome } from '../../../schema/receipt-payload.ts';
import type { Database } from '../../database.ts';
import { verifyUrl } from './document.ts';
import { receiptsByTask } from './find.ts';

/** Where a task stands. `status` is `completed` once there is a receipt. */
@ObjectType('TaskStatus')
export class Task {
  @Field(() => String)
  taskId!: string;

  @Field(() => String)
  status!: string;

  @Field(() => String, { description: '`none`: it was refused, and nothing will ever be there to prove.' })
  proofOutcome!: ProofOutcome | 'none';

  @Field(() => String, { nullable: true })
  paymentRef!: string | null;

  @Field(() => String, { description: 'Of its receipt; of the signed refusal where it was refused.' })
  verifyUrl!: string;
}

/** What the receipts know of a task; open payments are asked elsewhere. */
export async function recordedTask(database: Database, base_url: string, task_id: string): Promise<Task | null> {
  const [receipt] = await receiptsByTask(database, [task_id]);
  if (!receipt) return null;
  return {
    taskId: task_id,
    status: 'completed',
    proofOutcome: receipt.proofOutcome,
    paymentRef: receipt.paymentRef,
    verifyUrl: verifyUrl(base_url, task_id),
  };
}
