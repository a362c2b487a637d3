import { canonicalHash, type JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { sessionLimits } from '../../../schema/limits.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { takeUse } from '../../counted-use.ts';
import type { Tx } from '../../database.ts';
import { newTask } from '../../new-task.ts';
import { takeKey } from '../../receipt/written-once/written-once.ts';
import { readsOf } from '../../transaction.ts';
import { agentById } from '../agent/find.ts';
import type { SessionContext } from '../context.ts';
import { ownCall, receiptNamed } from './own-call.ts';
import { requireStillActive, type SignedAct, takeAct } from './take-act.ts';

/**
 * Hands off a receipt of this session, or of a session below it, to another agent. The child receipt has no payment and no amount, so
 * that it backs nothing. There is at most one per parent and target, and a limited number per parent. @throws not_found,
 * already_handed_off, handed_off_too_often, rate_limited, unavailable
 */
export async function handOff(act: SignedAct, context: SessionContext) {
  const { session, request, time } = act;
  const { database, base_url, named_write } = context;
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
    // `take` locks the Idempotency-Key, the nonce, the hand-off and the counter before the head of the log, and `settle` locks the
    // sessions after it. A failure undoes all of them, so only completed hand-offs count.
    take: async tx => {
      if (named_write) await takeKey(tx, named_write);
      await takeAct(tx, session, time);
      await keep(tx, handed);
      await takeHandOff(tx, session.delegationHash);
    },
    settle: tx => requireStillActive(tx, session),
  });
  const verify_url = verifyUrl(base_url, task_id);
  return {
    handedOff: { taskId: task_id, verifyUrl: verify_url, parentReceiptId: parent, targetAgent: target.agentId },
  };
}

/** Limits hand-offs per session and hour, because their receipts are free. @throws rate_limited */
async function takeHandOff(tx: Tx, delegation_hash: string): Promise<void> {
  const { hand_offs_per_session_hour_max: max } = sessionLimits;
  const use = { holder: `handoff:${delegation_hash}`, period: 'hour', max } as const;
  const retry_after_seconds = await takeUse(readsOf(tx), 'session_use', use);
  if (retry_after_seconds === null) return;
  const detail = `A session can hand off at most ${max} receipts in one UTC hour.`;
  throw new Refusal('rate_limited', { detail, facts: { retry_after_seconds } });
}

/** Hash of the signed act. The receipt contains it, so that the signer can prove which receipt an act has created. */
function requestHash({ session, request, time }: SignedAct): string {
  const { action, resource, target_agent } = request;
  const { nonce, deadline } = time;
  const args: JsonObject = { delegation_hash: session.delegationHash, nonce, action, resource, deadline, target_agent };
  return canonicalHash({ field: 'Mutation.actInSession', args });
}

interface HandedCall {
  readonly task_id: string;
  readonly parent: string;
  readonly target: number;
  readonly delegation_hash: string;
}

const LOCK_CALL = { name: 'lock call', text: 'select 1 from delegated_call where task_id = $1 for update' };

const HANDED_OFF = {
  name: 'standing hand-off',
  text: 'select task_id from hand_off where parent_task_id = $1 and target_agent = $2',
};

async function keep(tx: Tx, { task_id, parent, target, delegation_hash }: HandedCall): Promise<void> {
  // Concurrent hand-offs of one receipt are counted one after the other.
  await tx.query({ ...LOCK_CALL, values: [parent] });
  const { rows } = await tx.query({
    name: 'keep hand-off',
    text: `insert into hand_off (parent_task_id, target_agent, task_id, delegation_hash) select $1, $2, $3, $4
      where (select count(*) from hand_off where parent_task_id = $1) < $5
      on conflict do nothing returning 1`,
    values: [parent, target, task_id, delegation_hash, sessionLimits.hand_offs_per_receipt_max],
  });
  if (rows.length > 0) return;
  // The refusal names the task of the existing hand-off for a client that lost the response, because it is listed nowhere else.
  const [standing] = (await tx.query({ ...HANDED_OFF, values: [parent, target] })).rows;
  if (standing) throw new Refusal('already_handed_off', { facts: { task_id: String(standing.task_id) } });
  const { hand_offs_per_receipt_max: max } = sessionLimits;
  throw new Refusal('handed_off_too_often', { detail: `One receipt can be handed off to at most ${max} agents.` });
}
