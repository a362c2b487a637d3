import { Refusal } from '../../../schema/errors.ts';
import { policyLimits } from '../../../schema/policy-limits.ts';
import { bookHead } from '../../book/page/page.ts';
import type { Database } from '../../database.ts';
import { agentOfWallet } from '../agent/find.ts';
import type { SignedAct } from './signed-act.ts';

/**
 * An act of high risk by the book of the session's payer wants a nonce that was issued here, and no longer ago than its
 * `approval_ttl`: one of the signer's own may have been signed long before. @throws approval_ttl_expired
 */
export async function requireFreshAct(
  database: Database,
  { session, request, time }: SignedAct,
  since_seconds: number,
  now_seconds: number,
): Promise<void> {
  const agent_id = await agentOfWallet(database, session.payer);
  const policy = agent_id === null ? undefined : (await bookHead(database, agent_id))?.policy;
  if (!policy?.risk_tiers?.high.includes(request.action)) return;
  const { approval_ttl = policyLimits.approval_ttl_seconds } = policy;
  if (time.issued_at !== null && now_seconds - since_seconds <= approval_ttl) return;
  throw new Refusal('approval_ttl_expired', {
    detail: 'The book holds this act for one of high risk: ask for a challenge, and sign that.',
  });
}
