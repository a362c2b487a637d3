import type { Landing } from './facts.ts';

/** For a call that takes so long to be recorded the log's time is still within its session. */
const RECORDED_WITHIN_SECONDS = 10;

/** A receipt whose session was over as it was signed would not verify: what is recorded so late names it as authorization alone. */
export function sessionOf({ delegation }: Landing, now_ms: number) {
  if (!delegation || now_ms / 1000 + RECORDED_WITHIN_SECONDS > delegation.session_expiry) return null;
  const { agent_pubkey, delegation_hash, valid_after, session_expiry } = delegation;
  return { agent_pubkey, facts: { delegation_hash, valid_after, session_expiry } };
}
