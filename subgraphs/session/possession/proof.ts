import { createHmac } from 'node:crypto';
import { sameSecret } from '../../../schema/digest.ts';
import { limits } from '../../../schema/limits.ts';

const PROOF = /^sha256=[0-9a-f]{64}$/;

export function proofWindow(now_ms: number): number {
  return Math.floor(now_ms / 1000 / limits.book_proof_window_seconds);
}

/** `sha256=<hex>`: HMAC-SHA256 (RFC 2104) with the session as key over `<agent_id>.<window>`. */
export function bookProof(session: string, agent_id: number, window: number): string {
  return `sha256=${createHmac('sha256', session).update(`${agent_id}.${window}`).digest('hex')}`;
}

/** The current window passes and the one before it, so that a proof lives between 300 and 600 seconds. */
export function proofMatches(proof: string, session: string, agent_id: number, now_ms: number): boolean {
  if (!PROOF.test(proof)) return false;
  const window = proofWindow(now_ms);
  // Both are always computed: which window matched must not show in the time it takes.
  const current = sameSecret(proof, bookProof(session, agent_id, window));
  const previous = sameSecret(proof, bookProof(session, agent_id, window - 1));
  return current || previous;
}
