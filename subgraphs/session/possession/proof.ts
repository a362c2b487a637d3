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

/** Time (Unix seconds) from which a proof of that window is invalid: its window and the next one have ended. */
export function proofEnds(window: number): number {
  return (window + 2) * limits.book_proof_window_seconds;
}

/** `sha256=<hex>`: HMAC-SHA256 (RFC 2104) with the session as key over `<agent_id>.<window>`. */
export function bookProof(session: string, agent_id: number, window: number): string {
  return hmac(session, `${agent_id}.${window}`);
}

/** HMAC of a bound proof, over `<agent_id>.<window>.<METHOD>.<path>.<SHA-256 of the canonical body without proof>.<nonce>`. */
export function boundProof(session: string, agent_id: number, window: number, bound: ProofBinding): string {
  const { method, path, body_sha256, nonce } = bound;
  return hmac(session, [agent_id, window, method, path, body_sha256, nonce].join('.'));
}

/** What a bound proof covers besides agent and window. */
export interface ProofBinding extends Pick<ProvenRequest, 'method' | 'path'> {
  readonly body_sha256: string;
  readonly nonce: string;
}

function hmac(session: string, text: string): string {
  return `sha256=${createHmac('sha256', session).update(text).digest('hex')}`;
}

/** Window of a proof, of the two that are valid. A proof is valid for 300 to 600 seconds. */
export function windowOf(proof: ShownProof, session: string, agent_id: number, now_ms: number): number | null {
  const bound = boundTo(proof);
  if (!PROOF.test(proof.value) || bound === 'nothing') return null;
  const window = proofWindow(now_ms);
  const madeIn = (window: number) =>
    bound === null ? bookProof(session, agent_id, window) : boundProof(session, agent_id, window, bound);
  // Both are always computed, so that timing does not reveal which one matched.
  const current = sameSecret(proof.value, madeIn(window));
  const previous = sameSecret(proof.value, madeIn(window - 1));
  if (current) return window;
  return previous ? window - 1 : null;
}

/** Null for a plain proof. `nothing`: it has a nonce but no request that it could be bound to. */
function boundTo({ nonce, request }: ShownProof): ProofBinding | null | 'nothing' {
  if (nonce === null) return null;
  const body_sha256 = request && provenBodyHash(request.body);
  if (!NONCE.test(nonce) || request === null || body_sha256 === null) return 'nothing';
  return { method: request.method, path: request.path, body_sha256, nonce };
}

/**
 * The single use of a valid proof: the write of a plain one, which any reader could repeat, or the nonce of a bound one, in any
 * window. Neither outlives the session. Null for a plain proof with an unknown body or one without a canonical form, which writes
 * nothing.
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
