import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Charged } from '../../subgraphs/paid.ts';
import { type ClaimOutcome, receiptsByTask } from '../../subgraphs/receipt/index.ts';
import { announce } from './announce.ts';
import type { Authorized } from './authorized.ts';
import { answerLabel, type Landing } from './record.ts';
import type { Till } from './till.ts';

export type Bought = Omit<Extract<ClaimOutcome, { kind: 'replayed' }>, 'kind'>;

/**
 * The same payment for the same request: the stored answer, the same signed bytes, a replay event, no second charge.
 * Once it is settled a payment is public calldata: an answer that was bought under a session goes to that agent alone.
 */
export async function redeliver(
  till: Till,
  payment: Authorized,
  { task_id, answer_box, landing }: Bought,
  context: Context,
): Promise<Charged<JsonObject>> {
  const { possessed_by } = landing as Landing;
  const { possession } = context.principal;
  if (possessed_by !== null && (possession.kind !== 'proven' || possession.agent_id !== possessed_by)) {
    throw new Refusal('forbidden');
  }
  await till.queues.replay.submit(task_id);
  if (answer_box === null) {
    throw new Refusal('answer_gone', { facts: { verify_url: `${till.base_url}/receipt/${task_id}` } });
  }
  const answer = JSON.parse(till.vault.open(answer_box, answerLabel(task_id)).toString('utf8')) as JsonObject;
  const [receipt] = await receiptsByTask(till.database, [task_id]);
  announce(context, payment, { transaction: receipt?.paymentRef?.split(':')[1] ?? '', landing: landing as Landing });
  return { answer, task_id, settlement_status: 'idempotent_replay' };
}
