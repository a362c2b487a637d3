import { createHmac } from 'node:crypto';
import { sameSecret, sha256Hex } from '../../../schema/digest.ts';
import { limits } from '../../../schema/limits.ts';
import type { HeldBook, ProofUse } from '../../../schema/principal.ts';
import {
  NONCE_PATTERN,
  PROOF_PATTERN,
  type ProvenRequest,
  provenBodyHash,
  type ShownProof,
} from '../../../schema/proof.ts';

const PROOF = new RegExp(PROOF_PATTERN);
const NONCE = new RegExp(NONCE_PATTERN);

export function proofWindow(now_ms: number): number {
  return Math.floor(now_ms / 1000 / limits.book_proof_window_seconds);
}

/** Time (Unix seconds) from which a proof of a window is invalid: the end of the next window. */
export function proofEnds(window: number): number {
  return (window + 2) * limits.book_proof_window_seconds;
}

/** `sha256=<hex>`: HMAC-SHA256 (RFC 2104) with the session as key over `<agent_id>.<window>`. */
export function bookProof(session: string, agent_id: number, window: number): string {
  return hmac(session, `${agent_id}.${window}`);
}

/** Like `bookProof`, over `<agent_id>.<window>.<METHOD>.<path>.<SHA-256 of the canonical body without proof>.<nonce>`. */
export function boundProof(session: string, agent_id: number, window: number, bound: ProofBinding): string {
  const { method, path, body_sha256, nonce } = bound;
  return hmac(session, [agent_id, window, method, path, body_sha256, nonce].join('.'));
}

/** Facts of the request that a bound proof covers, in addition to the agent and the window. */
export interface ProofBinding extends Pick<ProvenRequest, 'method' | 'path'> {
  readonly body_sha256: string;
  readonly nonce: string;
}

function hmac(session: string, text: string): string {
  return `sha256=${createHmac('sha256', session).update(text).digest('hex')}`;
}

/** Window in which a proof was made: the current or the previous one. Null for any other, so a proof is valid for 300 to 600 seconds. */
export function windowOf(proof: ShownProof, session: string, agent_id: number, now_ms: number): number | null {
  const bound = boundTo(proof);
  if (!PROOF.test(proof.value) || bound === 'nothing') return null;
  const window = proofWindow(now_ms);
  const madeIn = (window: number) =>
    bound === null ? bookProof(session, agent_id, window) : boundProof(session, agent_id, window, bound);
  // Both proofs are always computed, so that the timing does not reveal which one matched.
  const current = sameSecret(proof.value, madeIn(window));
  const previous = sameSecret(proof.value, madeIn(window - 1));
  if (current) return window;
  return previous ? window - 1 : null;
}

/** Facts that a proof is bound to. Null for a plain proof. `nothing` if the proof has a nonce, but there is no request to bind it to. */
function boundTo({ nonce, request }: ShownProof): ProofBinding | null | 'nothing' {
  if (nonce === null) return null;
  const body_sha256 = request && provenBodyHash(request.body);
  if (!NONCE.test(nonce) || request === null || body_sha256 === null) return 'nothing';
  return { method: request.method, path: request.path, body_sha256, nonce };
}

/**
 * The use of a valid proof that is accepted only once. For a plain proof it is the write, which any reader of the proof could repeat. For
 * a bound proof it is the nonce, in any window. A use is valid for one session only. Null for a plain proof if the body of the request is
 * unknown or has no canonical form, in which case the request writes nothing.
 */
export function useOf({ nonce, request }: ShownProof, { session_hash }: HeldBook, window: number): ProofUse | null {
  if (nonce !== null) return { window, digest: sha256Hex(`nonce.${session_hash}.${nonce}`) };
  return request && plainUse({ session_hash }, window, request);
}

export function plainUse(
  { session_hash }: Pick<HeldBook, 'session_hash'>,
  window: number,
  { method, path, body }: ProvenRequest,
): ProofUse | null {
  const body_sha256 = provenBodyHash(body);
  if (body_sha256 === null) return null;
  return { window, digest: sha256Hex(['plain', session_hash, window, method, path, body_sha256].join('.')) };
}
