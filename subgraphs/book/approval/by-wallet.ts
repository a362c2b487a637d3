import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import type { ApprovalAnswerRequest } from '../../../schema/requests/approval.ts';
import { eip191Hash } from '../../../schema/secp256k1.ts';
import { approvalText } from '../../../schema/session/approval.ts';
import type { BookContext } from '../context.ts';
import { answerApproval } from './answer.ts';
import { type FoundApproval, findApprovals } from './find.ts';

type Asking = Pick<BookContext, 'database' | 'wallets' | 'walletOfAgent' | 'principal' | 'clock'>;

/**
 * Answers by the wallet of the book's agent, whose signature is the whole credential: over this request, the hash of its
 * call and this answer, and of now. Whoever holds the book's session, as the caller does, can make none.
 * @throws not_found, control_proof_invalid, chain_unavailable, unavailable, book_damaged, approval_closed
 */
export async function answerByWallet(
  { agent_id, approval_id }: { readonly agent_id: AgentId; readonly approval_id: string },
  { decision, wallet_signature, signature_timestamp }: ApprovalAnswerRequest,
  asking: Asking,
): Promise<FoundApproval> {
  const { database } = asking;
  if (!isFresh(signature_timestamp, asking.clock.now_ms())) throw wrong('signature_timestamp');
  const [found] = await findApprovals(database, { approval_id, agent_id });
  const wallet = found ? await asking.walletOfAgent(agent_id) : null;
  if (!found || wallet === null) throw new Refusal('not_found');
  const named = { approval_id, request_hash: found.requestHash };
  const digest = eip191Hash(approvalText(named, decision, signature_timestamp));
  const verdict = await asking.wallets.verifies(wallet, digest, wallet_signature, asking.principal.address);
  if (verdict === 'unreachable') throw new Refusal('chain_unavailable');
  if (verdict === 'no_turn') throw new Refusal('unavailable');
  if (verdict !== 'valid') throw wrong('wallet_signature');
  return database.transaction(tx => answerApproval(tx, found, { decision, by: 'wallet' }));
}

function wrong(param: keyof ApprovalAnswerRequest): Refusal {
  return new Refusal('control_proof_invalid', { param });
}

/** As of a registration. */
function isFresh(at_seconds: number, now_ms: number): boolean {
  const age_seconds = Math.floor(now_ms / 1000) - at_seconds;
  return (
    age_seconds <= limits.wallet_signature_age_seconds_max && age_seconds >= -limits.wallet_signature_ahead_seconds_max
  );
}
