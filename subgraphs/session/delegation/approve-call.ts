import { Refusal } from '../../../schema/errors.ts';
import { callNamed } from '../../../schema/session/act.ts';
import { approveByAct, requestBelow } from '../../book/approval/by-act.ts';
import { agentOfWallet } from '../agent/find.ts';
import type { SessionContext } from '../context.ts';
import { payerOfRoot } from './find.ts';
import { requireStillActive, type SignedAct, takeAct } from './take-act.ts';

/**
 * Approves a refused call of a session below this one. A call is not found if this session or another session with the same key made it,
 * or if it is not on the book of the wallet that granted the tree. @throws not_found, act_nonce_used, book_damaged, approval_closed,
 * session_not_active
 */
export async function approveCall({ session, request, time }: SignedAct, { database }: SessionContext) {
  const request_hash = callNamed(request.resource);
  if (request_hash === null) throw new Refusal('not_found');
  const { delegationHash: delegation_hash, agentAddress: agent_address, payer, path } = session;
  const root_payer = await payerOfRoot(database, path, { delegation_hash, payer });
  const agent_id = root_payer === null ? null : await agentOfWallet(database, root_payer);
  if (agent_id === null) throw new Refusal('not_found');
  return database.transaction(async tx => {
    await takeAct(tx, session, time);
    const found = await requestBelow(tx, request_hash, { agent_id, delegation_hash, agent_address });
    if (found === null) throw new Refusal('not_found');
    const { approvalId, agentId } = await approveByAct(tx, found);
    await requireStillActive(tx, session);
    return { approved: { approvalId, agentId, requestHash: request_hash } };
  });
}
