import * as z from 'zod';
import { canonicalJson, type JsonObject } from '../canonical-json.ts';
import { keccak256 } from '../digest.ts';
import { sessionLimits } from '../limits.ts';
import { Hash32, SignatureHex } from './grant.ts';
import { type HexHash, hashHex, type SessionMessage, sessionDigest } from './hash.ts';
import { isSignatureOfKey } from './public-key.ts';
import { type SessionDomain, sessionDomain, ZERO_HASH } from './typed-data.ts';

/* A signed act and the window in which it is valid. */

/** Actions of a session key. Each signed act is done once. */
export const actActions = ['handoff', 'read_private', 'redeem', 'approve'] as const;
export type ActAction = (typeof actActions)[number];

/** The act beside a payment. Its resource `payment/<payment id>` binds it to that payment. */
export const PAY_ACTION = 'pay';

export function payResource(payment_id: string): string {
  return `payment/${payment_id}`;
}

/** The call that `approve` is for, by its request hash: a call of a session below the one that acts. */
export function callNamed(resource: string): string | null {
  return /^call\/([0-9a-f]{64})$/.exec(resource)?.[1] ?? null;
}

/** The act beside a payment, in the header of its grant. */
export const PayAct = z.union([
  z.strictObject({ nonce: Hash32, deadline: z.int().min(0), signature: SignatureHex }),
  z.strictObject({ challenge_id: z.string().max(sessionLimits.challenge_id_chars_max), signature: SignatureHex }),
]);
export type PayAct = z.output<typeof PayAct>;

/** A nonce with its deadline and, if known, its time of issue. */
export interface ActTime {
  readonly nonce: string;
  /** Unix seconds. The nonce is invalid from then on. */
  readonly deadline: number;
  /** Unix seconds of the challenge. Null for a nonce chosen by the signer. */
  readonly issued_at: number | null;
}

export type ActWindow = { readonly kind: 'open' } | { readonly kind: 'over' } | { readonly kind: 'too_far' };

/** An issued nonce is valid as long as it says. A nonce chosen by the signer has a deadline at most 300 seconds away. */
export function windowOfAct({ deadline, issued_at }: ActTime, now_seconds: number): ActWindow {
  if (now_seconds >= deadline) return { kind: 'over' };
  if (issued_at !== null) return { kind: 'open' };
  return { kind: deadline - now_seconds <= sessionLimits.act_seconds_max ? 'open' : 'too_far' };
}

/**
 * Earliest time at which the act can have been valid, in Unix seconds: the issue of its nonce, or the time at which its deadline
 * was near enough. The act counts as this old, so that keeping it does not make it fresher.
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
  /** 0 without a target. */
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

/** Whether the key signed the act for a service with one of these base URLs. */
export function isActSigned(
  base_urls: readonly string[],
  key_address: string,
  act: ActMessage,
  signature: string,
): boolean {
  return base_urls.some(url => isSignatureOfKey(key_address, actDigest(sessionDomain(url), act), signature));
}

export function revocationDigest(domain: SessionDomain, delegation_hash: string, at_seconds: number): Uint8Array {
  return sessionDigest(domain, 'RevokeSession', { delegationHash: delegation_hash as HexHash, at: BigInt(at_seconds) });
}

/** keccak256 of the canonical JSON (RFC 8785) of the payload. Zeros without a payload. */
export function payloadHash(payload: JsonObject | null): string {
  return payload === null ? ZERO_HASH : hashHex(keccak256(Buffer.from(canonicalJson(payload))));
}
