import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { ApprovalAnswerRequest } from '../../../schema/requests/approval.ts';
import { approvalText } from '../../../schema/session/approval.ts';
import type { BookContext } from '../context.ts';
import { type AskingWallet, requireBelieved, wordOfWallet } from './agents-wallet.ts';
import { answerApproval } from './answer.ts';
import { type FoundApproval, findApprovals } from './find.ts';

/**
 * Answers by the wallet of the book's agent, whose signature is the whole credential: over this service, this request, the hash
 * of its call and this answer, and of now. Whoever holds the book's session, as the caller does, can make none.
 * @throws not_found, control_proof_invalid, chain_unavailable, unavailable, rate_limited, book_damaged, approval_closed
 */
export async function answerByWallet(
  { agent_id, approval_id }: { readonly agent_id: AgentId; readonly approval_id: string },
  { decision, ...word }: ApprovalAnswerRequest,
  asking: AskingWallet & Pick<BookContext, 'database'>,
): Promise<FoundApproval> {
  const { database } = asking;
  const [found] = await findApprovals(database, { approval_id, agent_id });
  if (!found) throw new Refusal('not_found');
  const named = { approval_id, request_hash: found.requestHash };
  const text = (base_url: string, at_seconds: number) => approvalText(base_url, named, decision, at_seconds);
  requireBelieved(await wordOfWallet(agent_id, word, text, asking));
  return database.transaction(tx => answerApproval(tx, found, { decision, by: 'wallet' }));
}
