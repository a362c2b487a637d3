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

/** From when on (Unix seconds) a proof of that window passes no more: it and the one after it are over. */
export function proofEnds(window: number): number {
  return (window + 2) * limits.book_proof_window_seconds;
}

/** `sha256=<hex>`: HMAC-SHA256 (RFC 2104) with the session as key over `<agent_id>.<window>`. */
export function bookProof(session: string, agent_id: number, window: number): string {
  return hmac(session, `${agent_id}.${window}`);
}

/** The same over `<agent_id>.<window>.<METHOD>.<path>.<SHA-256 of the canonical body without proof>.<nonce>`. */
export function boundProof(session: string, agent_id: number, window: number, bound: Bound): string {
  const { method, path, body_sha256, nonce } = bound;
  return hmac(session, [agent_id, window, method, path, body_sha256, nonce].join('.'));
}

/** What a bound proof is made for, besides an agent and a window. */
export interface Bound extends Pick<ProvenRequest, 'method' | 'path'> {
  readonly body_sha256: string;
  readonly nonce: string;
}

function hmac(session: string, text: string): string {
  return `sha256=${createHmac('sha256', session).update(text).digest('hex')}`;
}

/** The window that a proof was made in, of the two that pass: so it lives between 300 and 600 seconds. */
export function windowOf(proof: ShownProof, session: string, agent_id: number, now_ms: number): number | null {
  const bound = boundTo(proof);
  if (!PROOF.test(proof.value) || bound === 'nothing') return null;
  const window = proofWindow(now_ms);
  const madeIn = (window: number) =>
    bound === null ? bookProof(session, agent_id, window) : boundProof(session, agent_id, window, bound);
  // Both are always computed: which window matched must not show in the time it takes.
  const current = sameSecret(proof.value, madeIn(window));
  const previous = sameSecret(proof.value, madeIn(window - 1));
  if (current) return window;
  return previous ? window - 1 : null;
}

/** Null: to no request, in the plain form. `nothing`: it has a nonce and can be bound to nothing. */
function boundTo({ nonce, request }: ShownProof): Bound | null | 'nothing' {
  if (nonce === null) return null;
  const body_sha256 = request && provenBodyHash(request.body);
  if (!NONCE.test(nonce) || request === null || body_sha256 === null) return 'nothing';
  return { method: request.method, path: request.path, body_sha256, nonce };
}

/**
 * What of a proof, found right, serves once. Of a plain one the write: anybody who has read it could make that again. Of
 * a bound one the nonce, whatever window it comes with. Neither outlives the session. Null where a plain one came with
 * a body that is not known, or has no canonical form: that writes nothing.
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
