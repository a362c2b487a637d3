import { bookHead } from '../../book/page/page.ts';
import { agentOfWallet } from '../agent/find.ts';
import type { SessionContext } from '../context.ts';
import { payerOfRoot } from './find.ts';
import type { SignedAct } from './signed-act.ts';

/**
 * An act of high risk by the book of the wallet that has granted its tree, or of its session's payer, wants a nonce that was issued
 * here, and no longer ago than the `approval_ttl` of that book: one of the signer's own may have been signed long before. What a
 * book refuses is signed, and has its row, as of a call. @throws approval_ttl_expired, blocked_too_often, book_damaged
 */
export async function requireFreshAct(
  { session, request: { action }, time }: SignedAct,
  context: SessionContext,
): Promise<void> {
  const { delegationHash: delegation_hash, payer: payer_wallet } = session;
  const root_payer = await payerOfRoot(context.database, session.path, { delegation_hash, payer: payer_wallet });
  const issued_at_ms = time.issued_at === null ? null : time.issued_at * 1_000;
  for (const wallet of new Set([root_payer ?? payer_wallet, payer_wallet])) {
    const agent_id = await agentOfWallet(context.database, wallet);
    const policy = agent_id === null ? undefined : (await bookHead(context.database, agent_id))?.policy;
    if (agent_id === null || !policy?.risk_tiers?.high.includes(action)) continue;
    const act = { agent_id, delegation_hash, nonce: time.nonce, action, payer_wallet, issued_at_ms };
    const refusal = await context.refusalOfAct(act, context);
    if (refusal !== null) throw refusal;
  }
}
