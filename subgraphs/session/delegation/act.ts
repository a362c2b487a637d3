import { Refusal } from '../../../schema/errors.ts';
import type { ActRequest } from '../../../schema/requests/session.ts';
import { type ActAction, type ActTime, isActSigned, payloadHash, windowOfAct } from '../../../schema/session/act.ts';
import { bookHead } from '../../book/page/page.ts';
import { agentOfWallet } from '../agent/find.ts';
import type { SessionContext } from '../context.ts';
import type { SessionActResult } from './act.type.ts';
import { approveCall } from './approve-call.ts';
import { openChallenge } from './challenge.ts';
import type { Delegation } from './delegation.entity.ts';
import { activeSession, payerOfRoot } from './find.ts';
import { handOff } from './hand-off.ts';
import { readPrivate } from './read-private.ts';
import { redeem } from './redeem.ts';
import type { SignedAct } from './take-act.ts';

type Effect = (act: SignedAct, context: SessionContext) => Promise<Partial<Omit<SessionActResult, keyof ActMembers>>>;
type ActMembers = Pick<SessionActResult, 'action' | 'resource' | 'delegationHash'>;

/** A result without an effect. Each act has one effect, which sets one of these members. */
const NO_EFFECT = { handedOff: null, redeemed: null, approved: null, read: null };

/** Effect of each action. It takes the nonce in the transaction that it writes in. */
const effects: Readonly<Record<ActAction, Effect>> = {
  handoff: handOff,
  read_private: readPrivate,
  redeem,
  approve: approveCall,
};

/**
 * Carries out an act that the key of the session has signed. Each act is carried out once. @throws not_found, session_not_active,
 * act_expired, act_signature_invalid, payload_mismatch, act_nonce_used, and the errors of the book and of the effect
 */
export async function actInSession(
  delegation_hash: string,
  request: ActRequest,
  context: SessionContext,
): Promise<SessionActResult> {
  const now_seconds = Math.floor(context.clock.now_ms() / 1000);
  const session = await activeSession(context.database, delegation_hash, now_seconds);
  const time = timeOf(request, session, now_seconds, context);
  requireSigned(request, session, time, context);
  const act = { session, request, time };
  await requireFreshAct(act, context);
  const done = await effects[request.action](act, context);
  const { action, resource } = request;
  return { ...NO_EFFECT, action, resource, delegationHash: session.delegationHash, ...done };
}

/** Nonce and deadline of an act, from the request or from the challenge that it names. @throws act_expired */
function timeOf(
  { challenge_id, nonce, deadline }: ActRequest,
  { delegationHash }: Delegation,
  now_seconds: number,
  context: SessionContext,
): ActTime {
  const time =
    challenge_id === undefined
      ? { nonce: String(nonce).toLowerCase(), deadline: Number(deadline), issued_at: null }
      : openChallenge(context, delegationHash, challenge_id);
  const window = time && windowOfAct(time, now_seconds).kind;
  if (time !== null && window === 'open') return time;
  throw new Refusal('act_expired', { param: challenge_id === undefined ? 'deadline' : 'challenge_id' });
}

/** Checks the hash of the payload and the signature of the act. @throws payload_mismatch, act_signature_invalid */
function requireSigned(
  request: ActRequest,
  session: Delegation,
  { nonce, deadline }: ActTime,
  { base_urls }: SessionContext,
): void {
  const { action, resource, signature, target_agent, payload, payload_hash } = request;
  const of_payload = payloadHash(payload);
  if (payload_hash !== undefined && payload_hash.toLowerCase() !== of_payload)
    throw new Refusal('payload_mismatch', { param: 'payload_hash' });
  const signed = {
    delegation_hash: session.delegationHash,
    nonce,
    action,
    resource,
    deadline,
    target_agent,
    payload_hash: of_payload,
  };
  if (!isActSigned(base_urls, session.agentAddress, signed, signature))
    throw new Refusal('act_signature_invalid', { param: 'signature' });
}

/**
 * Checks the age of an act whose action is `high` in the `risk_tiers` of a book: the book of the wallet that granted the tree, or the
 * book of the payer. Such an act needs a nonce that this service issued within the `approval_ttl` of that book, because a nonce chosen
 * by the signer may have been signed long before. A refusal is signed and has a row, like the refusal of a call. @throws
 * approval_ttl_expired, blocked_too_often, book_damaged
 */
async function requireFreshAct(
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
