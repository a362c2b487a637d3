import { canonicalHash, type JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { verifyUrl } from '../../../schema/links.ts';
import type { Tx } from '../../database.ts';
import { newTask } from '../../new-task.ts';
import { agentById } from '../agent/find.ts';
import type { SessionContext } from '../context.ts';
import { ownCall, receiptNamed } from './own-call.ts';
import type { SignedAct } from './signed-act.ts';
import { requireStillActive, takeAct } from './take-act.ts';

/**
 * Hands a receipt of this subtree to another agent: a child receipt that names it, and no payment or amount, so that it
 * backs nothing. One for each parent and target. @throws not_found, already_handed_off, unavailable
 */
export async function handOff(act: SignedAct, context: SessionContext) {
  const { session, request, time } = act;
  const { database, base_url } = context;
  const parent = receiptNamed(request.resource);
  if (parent === null || (await ownCall(database, session, parent)) === null) throw new Refusal('not_found');
  const target = await agentById(database, request.target_agent);
  if (target === null) throw new Refusal('not_found', { param: 'target_agent' });
  const task_id = newTask(context);
  const handed = { task_id, parent, target: target.agentId, delegation_hash: session.delegationHash };
  const { delegationHash: delegation_hash, agentPubkey: agent_pubkey, sessionExpiry, validAfter } = session;
  await context.hand_offs.record({
    task_id,
    parent_receipt_id: parent,
    target_agent: target.agentId,
    request_hash: requestHash(act),
    delegation_hash,
    agent_pubkey,
    session_expiry: sessionExpiry,
    valid_after: validAfter,
    // Nonce, then the name, before the log's head is locked; the sessions behind it.
    take: async tx => {
      await takeAct(tx, session, time);
      await keep(tx, handed);
    },
    settle: tx => requireStillActive(tx, session),
  });
  const verify_url = verifyUrl(base_url, task_id);
  return {
    handedOff: { taskId: task_id, verifyUrl: verify_url, parentReceiptId: parent, targetAgent: target.agentId },
  };
}

/** Of what was signed, so that whoever has the act can show which receipt it made. */
function requestHash({ session, request, time }: SignedAct): string {
  const { action, resource, target_agent } = request;
  const { nonce, deadline } = time;
  const args: JsonObject = { delegation_hash: session.delegationHash, nonce, action, resource, deadline, target_agent };
  return canonicalHash({ field: 'Mutation.actInSession', args });
}

interface Handed {
  readonly task_id: string;
  readonly parent: string;
  readonly target: number;
  readonly delegation_hash: string;
}

const HANDED_OFF = {
  name: 'standing hand-off',
  text: 'select task_id from hand_off where parent_task_id = $1 and target_agent = $2',
};

async function keep(tx: Tx, { task_id, parent, target, delegation_hash }: Handed): Promise<void> {
  const { rows } = await tx.query({
    name: 'keep hand-off',
    text: `insert into hand_off (parent_task_id, target_agent, task_id, delegation_hash) values ($1, $2, $3, $4)
      on conflict do nothing returning 1`,
    values: [parent, target, task_id, delegation_hash],
  });
  if (rows.length > 0) return;
  // Whoever lost the answer learns here what it named: nothing else lists a receipt that was handed on.
  const [standing] = (await tx.query({ ...HANDED_OFF, values: [parent, target] })).rows;
  throw new Refusal('already_handed_off', { facts: { task_id: String(standing?.task_id) } });
}
