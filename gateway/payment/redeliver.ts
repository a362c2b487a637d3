import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import type { TaskId } from '../../schema/ids.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Charged } from '../../subgraphs/paid.ts';
import { receiptsByTask } from '../../subgraphs/receipt/index.ts';
import { announce } from './announce.ts';
import type { Authorized } from './authorized.ts';
import { answerLabel } from './record.ts';
import type { Till } from './till.ts';

/** The same payment for the same request: the stored answer, the same signed bytes, a replay event, no second charge. */
export async function redeliver(
  till: Till,
  payment: Authorized,
  { task_id, answer_box }: { task_id: TaskId; answer_box: Buffer | null },
  context: Context,
): Promise<Charged<JsonObject>> {
  await till.queues.replay.submit(task_id);
  if (answer_box === null) {
    throw new Refusal('answer_gone', { facts: { verify_url: `${till.base_url}/receipt/${task_id}` } });
  }
  const answer = JSON.parse(till.vault.open(answer_box, answerLabel(task_id)).toString('utf8')) as JsonObject;
  const [receipt] = await receiptsByTask(till.database, [task_id]);
  announce(context, payment, receipt?.paymentRef?.split(':')[1] ?? '');
  return { answer, task_id, settlement_status: 'idempotent_replay' };
}
