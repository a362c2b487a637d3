import { z } from 'zod';
import { findExceededBound, namesEachOnce } from '../json-bounds.ts';
import { sessionLimits } from '../limits.ts';
import { PayAct } from './act.ts';
import { Grant, type NamedGrant, SignatureHex, spelledGrant } from './grant.ts';
import { soundnessOf } from './grant-rule.ts';
import { addressOfPublicKey } from './public-key.ts';

/* The grant beside a payment: base64url of the JSON {grant, signature}, with `act` if one is sent. */

export const DELEGATION_HEADER = 'X-SVC-Delegation';

/** A grant as it was sent: well formed, but not verified. */
export interface ShownGrant {
  readonly grant: Grant;
  /** Address of the public key in the grant. */
  readonly agent_address: string;
  readonly signature: string;
  readonly act: PayAct | null;
}

/** The grant with its session. The domain of the signature determines which session it is. */
export interface ShownDelegation extends ShownGrant, NamedGrant {}

export type ReadDelegation =
  | { readonly kind: 'read'; readonly shown: ShownGrant }
  | { readonly kind: 'malformed'; readonly why: string };

const DelegationHeader = z.strictObject({ grant: Grant, signature: SignatureHex, act: PayAct.optional() });
const BASE64URL = /^[A-Za-z0-9_-]+={0,2}$/;

export function readDelegation(header: string): ReadDelegation {
  if (header.length > sessionLimits.delegation_header_chars_max) return malformedDelegation('is too long');
  if (!BASE64URL.test(header)) return malformedDelegation('is not base64url');
  const parsed = DelegationHeader.safeParse(jsonIn(header));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return malformedDelegation(`${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'is not valid'}`);
  }
  const { signature, act = null } = parsed.data;
  const grant = spelledGrant(parsed.data.grant);
  const agent_address = addressOfPublicKey(grant.agentPubkey);
  if (agent_address === null) return malformedDelegation('grant.agentPubkey: is not on the curve');
  const sound = soundnessOf(grant);
  if (sound.kind === 'unsound') return malformedDelegation(`grant.${sound.member}: ${sound.why}`);
  return { kind: 'read', shown: { grant, agent_address, signature, act } };
}

function malformedDelegation(why: string): ReadDelegation {
  return { kind: 'malformed', why };
}

/** Undefined if it is not JSON of a permitted depth, or repeats a name in one object. */
function jsonIn(header: string): unknown {
  const text = Buffer.from(header, 'base64url');
  if (findExceededBound(text) !== null) return undefined;
  try {
    const value: unknown = JSON.parse(text.toString());
    return namesEachOnce(text, value) ? value : undefined;
  } catch {
    return undefined;
  }
}
