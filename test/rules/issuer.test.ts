import { createLocalJWKSet, importJWK, type JSONWebKeySet, jwtVerify } from 'jose';
import { recoverMessageAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../schema/canonical-json.ts';
import { canonicalHash, sha256Hex } from '../../schema/digest.ts';
import { openIssuer } from '../../subgraphs/receipt/index.ts';

const base_url = 'https://svc.example';
const now_ms = () => 1_767_323_045_678;
const [old_seed, seed] = ['11'.repeat(32), '22'.repeat(32)];
const issuer = openIssuer([seed], { base_url, now_ms });
const rotated = openIssuer([seed, old_seed], { base_url, now_ms });
const jwks = issuer.jwks as unknown as JSONWebKeySet;

const algorithms = { ES256: { name: 'ECDSA', hash: 'SHA-256' }, Ed25519: { name: 'Ed25519' } };

/** A raw signature, checked by jose's reading of the published key and WebCrypto: nothing of ours. */
async function verifyRaw(kid: string, alg: 'ES256' | 'Ed25519', text: string, value: string): Promise<boolean> {
  const key = await importJWK(jwks.keys.find(jwk => jwk.kid === kid) ?? {});
  if (!(key instanceof CryptoKey)) throw new Error(`no public key ${kid}`);
  return crypto.subtle.verify(algorithms[alg], key, Buffer.from(value, 'base64url'), Buffer.from(text));
}

describe('the issuer', () => {
  it('signs tokens that jose verifies against the published key set', async () => {
    const jws = issuer.signJws({ iss: base_url, iat: 1, jti: 'task_1' });
    const { payload, protectedHeader } = await jwtVerify(jws, createLocalJWKSet(jwks), { issuer: base_url });
    expect(payload).toEqual({ iss: base_url, iat: 1, jti: 'task_1' });
    expect(protectedHeader).toEqual({
      alg: 'ES256',
      kid: issuer.kid,
      typ: 'JWT',
      jku: `${base_url}/.well-known/jwks.json`,
    });
  });

  it('signs the payload hash by Ed25519 under a published key', async () => {
    const { alg, kid, value } = await issuer.signature('ab'.repeat(32));
    expect(alg).toBe('Ed25519');
    expect(await verifyRaw(kid, alg, 'ab'.repeat(32), value)).toBe(true);
    expect(await verifyRaw(kid, alg, 'ac'.repeat(32), value)).toBe(false);
  });

  it('co-signs as a wallet would: viem recovers the published address', async () => {
    const { address, value } = issuer.coSignature('ab'.repeat(32));
    const signature = value as `0x${string}`;
    expect(await recoverMessageAddress({ message: 'ab'.repeat(32), signature })).toBe(address);
    expect(JSON.stringify(issuer.history)).toContain(address);
  });

  it('signs allowances over their canonical form', async () => {
    const allowance = { agent_id: 7, remaining: '1000', as_of: '2026-01-02T03:04:05.678Z' };
    const { alg, kid, value } = issuer.signAllowance(allowance);
    expect(await verifyRaw(kid, alg, canonicalJson(allowance), value)).toBe(true);
  });

  it('never uses one seed’s key material twice', () => {
    const points = jwks.keys.map(key => key.x);
    expect(new Set(points).size).toBe(3);
  });

  it('refuses a seed that is not 32 bytes of hex, without repeating it', () => {
    const secret = 'not-hex-but-secret';
    expect(() => openIssuer([secret], { base_url, now_ms })).toThrow(/^(?!.*not-hex-but-secret)/);
    expect(() => openIssuer([], { base_url, now_ms })).toThrow(RangeError);
  });
});

describe('key rotation', () => {
  it('signs with the new key and still publishes the old one', async () => {
    const before = openIssuer([old_seed], { base_url, now_ms });
    const keys = createLocalJWKSet(rotated.jwks as unknown as JSONWebKeySet);
    expect(rotated.kid).toBe(issuer.kid);
    await expect(jwtVerify(before.signJws({ iss: base_url }), keys)).resolves.toBeDefined();
  });

  it('appends to the history: the older snapshot stays reachable by version and by hash', () => {
    const before = openIssuer([old_seed], { base_url, now_ms });
    const { version, hash } = before.issuer_history;
    expect(rotated.issuer_history).toMatchObject({ version: 2, seq: 2 });
    expect(rotated.historySnapshot({ version })).toMatchObject({ hash });
    expect(rotated.historySnapshot({ hash })).toMatchObject({ version });
    expect(rotated.historySnapshot({ hash: 'nowhere' })).toBeNull();
    expect(rotated.history).toMatchObject({ version: 2, snapshot: { previous_hash: hash } });
  });
});

describe('the published histories', () => {
  it('are hashed over what they show, and alike in every process', () => {
    const { hash, snapshot } = issuer.history as { hash: string; snapshot: never };
    expect(canonicalHash(snapshot)).toBe(hash);
    expect(issuer.issuer_history.hash).toBe(hash);
    expect(openIssuer([seed], { base_url: 'https://other.example', now_ms: () => 0 }).history).toEqual(issuer.history);
  });

  it('name the policy that receipts sign, under the issuer’s signature', async () => {
    const history = issuer.policyHistory as { policies: { policy: never }[]; issuer_signature: { jws: string } };
    const policy = history.policies.at(-1)?.policy;
    expect(sha256Hex(canonicalJson(policy ?? null))).toBe(issuer.receipt_policy.hash);
    const { payload } = await jwtVerify(history.issuer_signature.jws, createLocalJWKSet(jwks));
    expect(payload.receipt_policy).toEqual(issuer.receipt_policy);
  });
});
