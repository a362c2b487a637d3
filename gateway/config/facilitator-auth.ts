import { createPrivateKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { Secret } from '../../schema/secret.ts';
import { publicKeyOf } from './solana.ts';

/** Credential for a facilitator: a bearer token, or a key of Coinbase's Developer Platform, which signs tokens. */
export type FacilitatorAuth =
  | { readonly kind: 'bearer'; readonly token: Secret }
  | { readonly kind: 'cdp'; readonly key_id: string; readonly secret: Secret };

/** A key that CDP issued, and its signature algorithm. */
export interface CdpKey {
  readonly alg: 'ES256' | 'EdDSA';
  readonly key: KeyObject;
}

const SEED_BYTES = 32;
const FORM = '`bearer:<token>`, or `cdp:<key id>:<secret>` (EC in PEM, `\\n` for its newlines, or Ed25519 in base64)';
const FORMS = 'not bearer:<token> or cdp:<key id>:<secret>';
const NO_KEY = 'the secret is not a CDP key: an EC key (P-256) in PEM, or 64 bytes of Ed25519 in base64';

/**
 * Schema of `bearer:<token>`, or of `cdp:<key id>:<secret>`, in which the newlines of a PEM may be written as a backslash and n.
 */
export function facilitatorAuth() {
  return z
    .string()
    .meta({ form: FORM })
    .transform((text, context): FacilitatorAuth => {
      const [, token] = text.match(/^bearer:([!-~]+)$/) ?? [];
      if (token) return { kind: 'bearer', token: new Secret(token) };
      const [, key_id, secret] = text.match(/^cdp:([!-9;-~]+):(.+)$/s) ?? [];
      if (key_id && secret && cdpKey(secret)) return { kind: 'cdp', key_id, secret: new Secret(secret) };
      context.addIssue({ code: 'custom', message: key_id ? NO_KEY : FORMS });
      return z.NEVER;
    });
}

/** Reads a key of CDP; null if the secret is not one. */
export function cdpKey(secret: string): CdpKey | null {
  return /-----BEGIN /.test(secret) ? ecKey(secret.replaceAll('\\n', '\n')) : edwardsKey(secret);
}

function ecKey(pem: string): CdpKey | null {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? { alg: 'ES256', key } : null;
  } catch {
    return null;
  }
}

/** Reads a key that consists of seed and public key, 32 bytes each. */
function edwardsKey(text: string): CdpKey | null {
  const bytes = Buffer.from(text, 'base64');
  const [seed, given] = [bytes.subarray(0, SEED_BYTES), bytes.subarray(SEED_BYTES)];
  if (seed.length !== SEED_BYTES || !publicKeyOf(seed).equals(given)) return null;
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: seed.toString('base64url'), x: given.toString('base64url') };
  return { alg: 'EdDSA', key: createPrivateKey({ format: 'jwk', key: jwk }) };
}
