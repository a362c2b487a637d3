import * as z from 'zod';
import { canonicalJson, type JsonObject } from '../canonical-json.ts';
import { keccak256 } from '../digest.ts';
import { sessionLimits } from '../limits.ts';
import { Hash32, SignatureHex } from './grant.ts';
import { type HexHash, hashHex, type SessionMessage, sessionDigest } from './hash.ts';
import { isKeysSignature } from './public-key.ts';
import { type SessionDomain, sessionDomain, ZERO_HASH } from './typed-data.ts';

/* A signed act, and the window in which it serves. */

/** What a session's key may do: each by a signed act, once. */
export const actActions = ['handoff', 'read_private', 'redeem', 'approve'] as const;
export type ActAction = (typeof actActions)[number];

/** The act that comes beside a payment: its resource is `payment/<payment id>`, so it is for that one alone. */
export const PAY_ACTION = 'pay';

export function payResource(payment_id: string): string {
  return `payment/${payment_id}`;
}

/** What `approve` is for: the call of a session below the one that acts, by the hash of its request. */
export function callNamed(resource: string): string | null {
  return /^call\/([0-9a-f]{64})$/.exec(resource)?.[1] ?? null;
}

/** The act beside a payment, in the header of its grant. */
export const PayAct = z.union([
  z.strictObject({ nonce: Hash32, deadline: z.int().min(0), signature: SignatureHex }),
  z.strictObject({ challenge_id: z.string().max(sessionLimits.challenge_id_chars_max), signature: SignatureHex }),
]);
export type PayAct = z.output<typeof PayAct>;

/** A nonce that serves until `deadline`, and when it was issued, as far as that is known. */
export interface ActTime {
  readonly nonce: string;
  /** Unix seconds; from then on it serves no more. */
  readonly deadline: number;
  /** Unix seconds of the challenge; null of a nonce of the signer's own. */
  readonly issued_at: number | null;
}

export type ActWindow = { readonly kind: 'open' } | { readonly kind: 'over' } | { readonly kind: 'too_far' };

/** An issued nonce lives as long as it says; of one's own the deadline is at most 300 s away. */
export function windowOfAct({ deadline, issued_at }: ActTime, now_seconds: number): ActWindow {
  if (now_seconds >= deadline) return { kind: 'over' };
  if (issued_at !== null) return { kind: 'open' };
  return { kind: deadline - now_seconds <= sessionLimits.act_seconds_max ? 'open' : 'too_far' };
}

/**
 * From when on an act may have served, in Unix seconds: since its nonce was issued, or since its deadline was near enough.
 * It is as old as that, whenever it was really signed, so nobody makes it younger by keeping it.
 */
export function actSince({ deadline, issued_at }: ActTime): number {
  return issued_at ?? deadline - sessionLimits.act_seconds_max;
}

export interface ActMessage {
  readonly delegation_hash: string;
  readonly nonce: string;
  readonly action: string;
  readonly resource: string;
  readonly deadline: number;
  /** 0 where nobody is meant. */
  readonly target_agent: number;
  readonly payload_hash: string;
}

export function actDigest(domain: SessionDomain, act: ActMessage): Uint8Array {
  const message: SessionMessage<'SessionAct'> = {
    delegationHash: act.delegation_hash as HexHash,
    nonce: act.nonce as HexHash,
    action: act.action,
    resource: act.resource,
    deadline: BigInt(act.deadline),
    targetAgent: BigInt(act.target_agent),
    payloadHash: act.payload_hash as HexHash,
  };
  return sessionDigest(domain, 'SessionAct', message);
}

/** Whether that key has signed the act for the service that has, or had, one of these base URLs. */
export function isActSigned(
  base_urls: readonly string[],
  key_address: string,
  act: ActMessage,
  signature: string,
): boolean {
  return base_urls.some(url => isKeysSignature(key_address, actDigest(sessionDomain(url), act), signature));
}

export function revocationDigest(domain: SessionDomain, delegation_hash: string, at_seconds: number): Uint8Array {
  return sessionDigest(domain, 'RevokeSession', { delegationHash: delegation_hash as HexHash, at: BigInt(at_seconds) });
}

/** keccak256 of the payload's canonical JSON (RFC 8785); zeros where there is none. */
export function payloadHash(payload: JsonObject | null): string {
  return payload === null ? ZERO_HASH : hashHex(keccak256(Buffer.from(canonicalJson(payload))));
}
