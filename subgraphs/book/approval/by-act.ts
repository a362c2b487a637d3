import type { AgentId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';
import { answerApproval } from './answer.ts';
import { type FoundApproval, findApprovals } from './find.ts';

/** The session that approves, and the address of its key. */
export interface ActingSession {
  /** Agent whose wallet granted the tree. Its sessions can approve on its own book only. */
  readonly agent_id: AgentId;
  readonly delegation_hash: string;
  readonly agent_address: string;
}

/**
 * The oldest open request that a session may approve: its call was made by a session below the approving one, with another key. Null
 * if there is none.
 */
export async function requestBelow(
  tx: Tx,
  request_hash: string,
  { agent_id, delegation_hash, agent_address }: ActingSession,
): Promise<FoundApproval | null> {
  const [found] = await findApprovals(tx, { agent_id, request_hash, over: delegation_hash, but: agent_address });
  return found ?? null;
}

/** Approves a request. Call it in the transaction of the act. @throws book_damaged, approval_closed */
export function approveByAct(tx: Tx, found: FoundApproval): Promise<FoundApproval> {
  return answerApproval(tx, found, { decision: 'approve', by: 'act' });
}
