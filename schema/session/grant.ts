import * as z from 'zod';
import { parseAtomic } from '../amount.ts';
import { checksummedAddress } from '../eip55.ts';
import { limits, sessionLimits } from '../limits.ts';
import { storedText } from '../requests/text.ts';
import { hashHex, type SessionMessage, sessionDigest } from './hash.ts';
import { firstDomain, type SessionDomain, sessionDomain } from './typed-data.ts';

/* A grant as it is sent: the message of AuthorizeSession with its own member names. */

export const Hash32 = z.string().regex(/^0x[0-9a-fA-F]{64}$/, { error: 'must be 32 bytes: 0x and 64 hex digits' });
export const SignatureHex = z
  .string()
  .max(limits.wallet_signature_chars_max)
  .regex(/^0x([0-9a-fA-F]{2})+$/, { error: 'must be 0x and an even number of hex digits' });
const Address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, { error: 'is not an address: 0x and 40 hex digits' });
/** A number, or digits, as other libraries write typed data in JSON. */
const seconds = z
  .union(
    [
      z.int(),
      z
        .string()
        .regex(/^(0|[1-9]\d{0,15})$/)
        .transform(Number),
    ],
    { error: 'must be a whole number of seconds' },
  )
  .pipe(z.int().min(0).max(sessionLimits.time_seconds_max));
const cap = z.union([z.string(), z.int().min(0).transform(String)]).refine(text => {
  const value = parseAtomic(text);
  return value !== null && value > 0n && value <= sessionLimits.cap_atomic_max;
}, 'must be a whole number from 1 to 2^63 - 1, as a string of digits or an exact JSON number');

const names = (chars_max: number, error: string) =>
  z
    .array(storedText.min(1).max(chars_max))
    .max(sessionLimits.names_max)
    .refine(list => new Set(list).size === list.length, `${error} is named twice`);

/** Points of secp256k1 (SEC 1 2.3.3), compressed or not. Whether a point is on the curve is checked separately. */
const PublicKey = z
  .string()
  .regex(/^0x(0[23][0-9a-fA-F]{64}|04[0-9a-fA-F]{128})$/, { error: 'must be a public key of secp256k1 (0x and hex)' });

export const Grant = z.strictObject({
  payer: Address.describe('Wallet whose payments are made under the session (0x and 40 hex digits).'),
  agentPubkey: PublicKey.describe(
    'Public key of the agent that acts under the session: a point of secp256k1, compressed or not.',
  ),
  capAtomic: cap.describe(
    'Cap in atomic USDC (6 decimals) on the spending under the session and all sessions below it.',
  ),
  validAfter: seconds.describe('Time from which the session is valid, in Unix seconds.'),
  sessionExpiry: seconds.describe('Time from which the session is expired, in Unix seconds.'),
  parentDelegationHash: Hash32.describe('Delegation hash of the parent session. 32 zero bytes without a parent.'),
  models: names(limits.model_id_chars_max, 'a model').describe(
    'Ids of the models that may answer; `svc/auto` allows every model that svc/auto may choose for the call. Empty: any model.',
  ),
  doors: names(sessionLimits.door_chars_max, 'an endpoint').describe(
    'Names of the paid endpoints that may be called, as GET /v1/sessions/types lists them. Empty: any endpoint.',
  ),
  salt: Hash32.describe('Any 32 bytes. Two grants that are otherwise equal differ by it.'),
});

/** A grant with normalised spellings: lower-case hex, the payer in EIP-55. */
export interface Grant {
  readonly payer: string;
  readonly agentPubkey: string;
  readonly capAtomic: string;
  readonly validAfter: number;
  readonly sessionExpiry: number;
  readonly parentDelegationHash: string;
  readonly models: readonly string[];
  readonly doors: readonly string[];
  readonly salt: string;
}

export function spelledGrant(shown: z.output<typeof Grant>): Grant {
  return {
    ...shown,
    payer: checksummedAddress(shown.payer),
    agentPubkey: shown.agentPubkey.toLowerCase(),
    parentDelegationHash: shown.parentDelegationHash.toLowerCase(),
    salt: shown.salt.toLowerCase(),
  };
}

export function grantMessage(grant: Grant): SessionMessage<'AuthorizeSession'> {
  const { capAtomic, validAfter, sessionExpiry, ...rest } = grant;
  const numbers = {
    capAtomic: BigInt(capAtomic),
    validAfter: BigInt(validAfter),
    sessionExpiry: BigInt(sessionExpiry),
  };
  return { ...rest, ...numbers } as SessionMessage<'AuthorizeSession'>;
}

export function grantDigest(domain: SessionDomain, grant: Grant): Uint8Array {
  return sessionDigest(domain, 'AuthorizeSession', grantMessage(grant));
}

/** Id of the session: 0x and lower-case hex. */
export function delegationHash(domain: SessionDomain, grant: Grant): string {
  return hashHex(grantDigest(domain, grant));
}

/** A grant signed under one domain, and the id of its session there. */
export interface NamedGrant {
  readonly domain: SessionDomain;
  readonly delegation_hash: string;
}

/**
 * Domains under which a grant may have been signed: that of this service, those of its former base URLs, and version 1, which new
 * sessions cannot use.
 */
export function namesOfGrant(grant: Grant, base_urls: readonly string[]): readonly NamedGrant[] {
  const domains: readonly SessionDomain[] = [...base_urls.map(sessionDomain), firstDomain];
  return domains.map(domain => ({ domain, delegation_hash: delegationHash(domain, grant) }));
}
