import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { adoptHandOff } from '../../book/ledger/adopt-receipt.ts';
import type { Tx } from '../../database.ts';
import { receiptsByTask } from '../../receipt/receipt/find.ts';
import { agentOfWallet } from '../agent/find.ts';
import type { SessionContext } from '../context.ts';
import { ownCall, receiptNamed } from './own-call.ts';
import { requireStillActive, type SignedAct, takeAct } from './take-act.ts';

/**
 * Closes the claim of a receipt, once. The receipt belongs to this session or to a session below it, or it was handed off to the agent of
 * the payer. A receipt that was handed off gets its row on the book of that agent. @throws not_found, claim_already_settled
 */
export async function redeem(act: SignedAct, context: SessionContext) {
  const { session, request, time } = act;
  const { database } = context;
  const task_id = receiptNamed(request.resource);
  if (task_id === null) throw new Refusal('not_found');
  const handed_to = await targetOf(task_id, act, context);
  const [receipt] = await receiptsByTask(database, [task_id]);
  if (!receipt || (handed_to === null && (await ownCall(database, session, task_id)) === null))
    throw new Refusal('not_found');
  await database.transaction(async tx => {
    await takeAct(tx, session, time);
    await close(tx, task_id, session.delegationHash);
    if (handed_to !== null) await adoptHandOff(tx, handed_to, receipt);
    await requireStillActive(tx, session);
  });
  return { redeemed: { taskId: task_id, agentId: handed_to } };
}

/** Agent to which a receipt was handed off. Null if it was not handed off. @throws not_found if it is not the agent of the payer */
async function targetOf(
  task_id: string,
  { session }: SignedAct,
  { database }: SessionContext,
): Promise<AgentId | null> {
  const [handed] = await database.query<{ target_agent: AgentId }>({
    name: 'hand-off of task',
    text: 'select target_agent from hand_off where task_id = $1',
    values: [task_id],
  });
  if (!handed) return null;
  if ((await agentOfWallet(database, session.payer)) !== handed.target_agent) throw new Refusal('not_found');
  return handed.target_agent;
}

async function close(tx: Tx, task_id: string, delegation_hash: string): Promise<void> {
  const { rows } = await tx.query({
    name: 'close claim of receipt',
    text: `insert into redemption (task_id, delegation_hash, redeemed_at) values ($1, $2, clock_timestamp())
      on conflict do nothing returning 1`,
    values: [task_id, delegation_hash],
  });
  if (rows.length === 0)
    throw new Refusal('claim_already_settled', { detail: 'The claim of this receipt was already closed.' });
}
