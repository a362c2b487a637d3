import type { AgentId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';
import { answerApproval } from './answer.ts';
import { type FoundApproval, findApprovals } from './find.ts';

/** A session that acts, and the key that it acts with. */
export interface ActingSession {
  /** Whose wallet has granted its tree: it is that wallet's to hand out who approves, on its own book and no other. */
  readonly agent_id: AgentId;
  readonly delegation_hash: string;
  readonly agent_address: string;
}

/**
 * The open request that a session may approve, the oldest: of a call under a session below it. One's own calls are not among
 * them, nor those of whatever session the same key holds. Null where there is none.
 */
export async function requestBelow(
  tx: Tx,
  request_hash: string,
  { agent_id, delegation_hash, agent_address }: ActingSession,
): Promise<FoundApproval | null> {
  const [found] = await findApprovals(tx, { agent_id, request_hash, over: delegation_hash, but: agent_address });
  return found ?? null;
}

/** In the transaction of the act. @throws book_damaged, approval_closed */
export function approveByAct(tx: Tx, found: FoundApproval): Promise<FoundApproval> {
  return answerApproval(tx, found, { decision: 'approve', by: 'act' });
}
