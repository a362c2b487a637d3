import { createECDH, createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';
import secp256k1 from 'secp256k1';
import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { addressOfPoint } from '../../../schema/secp256k1.ts';

/** The three keys that are derived from one seed. Private parts never leave the issuer folder. */
export interface SeedKeys {
  readonly es256: { readonly key: KeyObject; readonly kid: string; readonly jwk: JsonObject };
  readonly ed25519: { readonly key: KeyObject; readonly kid: string; readonly jwk: JsonObject };
  readonly secp256k1: {
    readonly key: Buffer;
    readonly kid: string;
    readonly jwk: JsonObject;
    readonly address: string;
  };
}

const SEED = /^(0x)?[0-9a-f]{64}$/i;
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** Derives the keys of a seed. @param secret 32 bytes of hex. @throws if it is anything else; the message never shows it. */
export function deriveKeys(secret: string): SeedKeys {
  if (!SEED.test(secret)) throw new RangeError('an issuer key is 32 bytes of hex');
  const seed = Buffer.from(secret.replace(/^0x/i, ''), 'hex');
  return { es256: es256(seed), ed25519: ed25519(seed), secp256k1: secp(seed) };
}

/** One label per use, so that no key is ever used for two algorithms (RFC 5869 §3.2). */
function expand(seed: Buffer, label: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', seed, '', label, bytes));
}

/** Derives 128 bits more than the order has, and then reduces them, so the bias is below 2^-128 (FIPS 186-5 A.2.1). Never zero. */
function scalar(seed: Buffer, label: string, order: bigint): Buffer {
  const wide = BigInt(`0x${expand(seed, label, 48).toString('hex')}`);
  return Buffer.from(((wide % (order - 1n)) + 1n).toString(16).padStart(64, '0'), 'hex');
}

function es256(seed: Buffer): SeedKeys['es256'] {
  const d = scalar(seed, 'svc.issuer.es256.v1', P256_ORDER);
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(d);
  const point = pointOf('P-256', curve.getPublicKey());
  const key = createPrivateKey({ key: { ...point, d: d.toString('base64url') }, format: 'jwk' });
  return { key, ...publicJwk(point, 'ES256') };
}

/** Fixed bytes of the PKCS #8 wrapper, which the seed follows (RFC 8410 §7). */
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function ed25519(seed: Buffer): SeedKeys['ed25519'] {
  const der = Buffer.concat([ED25519_PKCS8, expand(seed, 'svc.issuer.ed25519.v1', 32)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return { key, ...publicJwk({ kty: 'OKP', crv: 'Ed25519', x }, 'Ed25519') };
}

function secp(seed: Buffer): SeedKeys['secp256k1'] {
  const key = scalar(seed, 'svc.issuer.secp256k1.v1', SECP256K1_ORDER);
  const point = Buffer.from(secp256k1.publicKeyCreate(key, false));
  return { key, ...publicJwk(pointOf('secp256k1', point), 'ES256K'), address: addressOfPoint(point) };
}

function pointOf(crv: string, point: Buffer) {
  return { kty: 'EC', crv, x: point.toString('base64url', 1, 33), y: point.toString('base64url', 33, 65) };
}

/** `kid` is the RFC 7638 thumbprint: SHA-256 of the required members alone, in canonical order. */
function publicJwk(required: JsonObject, alg: string): { kid: string; jwk: JsonObject } {
  const kid = createHash('sha256').update(canonicalJson(required)).digest('base64url');
  return { kid, jwk: { ...required, kid, alg, use: 'sig' } };
}
