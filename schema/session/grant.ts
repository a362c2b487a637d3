import { z } from 'zod';
import { parseAtomic } from '../amount.ts';
import { spelt } from '../eip55.ts';
import { limits } from '../limits.ts';
import { storedText } from '../requests/parse.ts';
import { hashHex, type SessionMessage, sessionDigest } from './hash.ts';
import { sessionLimits } from './session-limits.ts';

/* A grant as it comes over a wire: the message of AuthorizeSession under its own names. */

const SECONDS_MAX = 2 ** 48;
/** What a column of Postgres holds; 9 million millions of USDC. */
const CAP_MAX = 2n ** 63n - 1n;

export const Hash32 = z.string().regex(/^0x[0-9a-fA-F]{64}$/, { error: 'is not 32 bytes: 0x and 64 hex digits' });
export const SignatureHex = z
  .string()
  .max(limits.wallet_signature_chars_max)
  .regex(/^0x([0-9a-fA-F]{2})+$/, { error: 'is not 0x and whole bytes in hex' });
const Address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, { error: 'is not an address' });
const seconds = z.int().min(0).max(SECONDS_MAX);
const cap = z.string().refine(text => {
  const value = parseAtomic(text);
  return value !== null && value > 0n && value <= CAP_MAX;
}, 'is not a decimal string of digits from 1 to 2^63 - 1');

const names = (chars_max: number, error: string) =>
  z
    .array(storedText.min(1).max(chars_max))
    .max(sessionLimits.names_max)
    .refine(list => new Set(list).size === list.length, `${error} is named twice`);

/** Points of secp256k1 (SEC 1 2.3.3): compressed, or whole. Whether one is on the curve is a rule of its own. */
const PublicKey = z
  .string()
  .regex(/^0x(0[23][0-9a-fA-F]{64}|04[0-9a-fA-F]{128})$/, { error: 'is not a public key of secp256k1' });

export const Grant = z.strictObject({
  payer: Address.describe('Whose payments are made under it.'),
  agentPubkey: PublicKey.describe('The key that acts under it: a point of secp256k1, compressed or not.'),
  capAtomic: cap.describe('Atomic USDC that may be spent under it and all its children together.'),
  validAfter: seconds.describe('Unix seconds.'),
  sessionExpiry: seconds.describe('Unix seconds; from then on it is over.'),
  parentDelegationHash: Hash32.describe('Of the session that it is a child of; zeros where it is none.'),
  models: names(limits.model_id_chars_max, 'a model').describe('Ids of the models that may answer; empty: any.'),
  doors: names(sessionLimits.door_chars_max, 'a door').describe('Names of the paid doors; empty: any.'),
  salt: Hash32.describe('Any 32 bytes, so that two like grants are two.'),
});

/** Every spelling in one form: hex in lower case, the payer as EIP-55 has it. */
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
    payer: spelt(shown.payer),
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

export function grantDigest(grant: Grant): Uint8Array {
  return sessionDigest('AuthorizeSession', grantMessage(grant));
}

/** The name of the session: 0x, lower case. */
export function delegationHash(grant: Grant): string {
  return hashHex(grantDigest(grant));
}
