import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { KEY_CLOCK_SECONDS, KEY_OVERLAP_SECONDS } from '../../../../schema/key-times.ts';
import { openIssuer } from '../../../../subgraphs/receipt/issuer/signing-keys.ts';
import { verifyReceipt } from '../../../../subgraphs/receipt/verify/receipt.ts';
import { base_url, collected_at_ms, issue, issuer, otherIssuer } from '../../../harness/receipt/issue.ts';
import { paidCall } from '../../../harness/vectors/receipt-facts.ts';

/* Signatures that are not the issuer's must be refused in any disguise. */

const document = await issue(paidCall);
const { jws } = document.issuer_signature as { jws: string };
const [head = '', body = '', tail = ''] = jws.split('.');
const keys = issuer.jwks.keys as readonly JsonObject[];
const own = keys[0] as JsonObject;

const encoded = (value: JsonObject) => Buffer.from(JSON.stringify(value)).toString('base64url');
const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as JsonObject;
const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const foreign_jwk = foreign.publicKey.export({ format: 'jwk' }) as JsonObject;

const es256 = (key: KeyObject) => (input: string) =>
  sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');
const asBefore = () => tail;

/** The same claims under another header, signed by any function. */
function dressed(changed: JsonObject, signed: (input: string) => string): JsonObject {
  const input = `${encoded({ ...header, ...changed })}.${body}`;
  const token = `${input}.${signed(input)}`;
  const { issuer_signature } = document as { issuer_signature: JsonObject };
  return { ...document, issuer_signature: { ...issuer_signature, jws: token } };
}

const secret = (text: string) => (input: string) => createHmac('sha256', text).update(input).digest('base64url');
const pem = 'the public key as PEM, which everybody has';
const fetched: unknown[] = [];
beforeAll(() => {
  const known = fetch;
  vi.stubGlobal('fetch', (...asked: Parameters<typeof fetch>) => {
    // A service that other files of this worker share still calls its chain by fetch.
    if (String(asked[0]).startsWith('http://127.0.0.1:')) return known(...asked);
    fetched.push(asked);
    return Promise.reject(new Error('a verifier asks nobody'));
  });
});
afterAll(() => {
  vi.unstubAllGlobals();
});

const forged: readonly (readonly [what: string, document: JsonObject, code: string])[] = [
  ['alg none without a signature', dressed({ alg: 'none' }, () => ''), 'algorithm_refused'],
  ['alg none with the signature', dressed({ alg: 'none' }, asBefore), 'algorithm_refused'],
  ['alg None', dressed({ alg: 'None' }, () => ''), 'algorithm_refused'],
  ['HS256 by the public key', dressed({ alg: 'HS256' }, secret(pem)), 'algorithm_refused'],
  ['HS256 by the JWK', dressed({ alg: 'HS256' }, secret(JSON.stringify(own))), 'algorithm_refused'],
  ['ES256 by a secret', dressed({}, secret(String(own.x))), 'signature_invalid'],
  ['a foreign jwk', dressed({ jwk: foreign_jwk }, es256(foreign.privateKey)), 'signature_invalid'],
  ['a foreign jku', dressed({ jku: 'https://evil.example/jwks' }, es256(foreign.privateKey)), 'signature_invalid'],
  ['a foreign x5u', dressed({ x5u: 'https://evil.example/x' }, es256(foreign.privateKey)), 'signature_invalid'],
  ['x5c and a kid of its own', dressed({ x5c: ['AA'], kid: 'evil' }, es256(foreign.privateKey)), 'signature_invalid'],
  ['a kid of nobody', dressed({ kid: 'nobody' }, asBefore), 'signature_invalid'],
  ['no kid', dressed({ kid: null }, asBefore), 'signature_invalid'],
  ['the kid of another curve', dressed({ kid: (keys[1] as JsonObject).kid ?? null }, asBefore), 'signature_invalid'],
  ['the key of another issuer', dressed({ kid: otherIssuer.kid }, asBefore), 'signature_invalid'],
  ['an unknown critical header', dressed({ crit: ['exp'], exp: 9e9 }, asBefore), 'header_refused'],
  ['b64 false', dressed({ crit: ['b64'], b64: false }, asBefore), 'header_refused'],
  ['b64 false that is not critical', dressed({ b64: false }, asBefore), 'header_refused'],
  ['an empty crit', dressed({ crit: [] }, asBefore), 'header_refused'],
];

describe('a token', () => {
  it.each(forged)('with %s is refused', async (_, altered, code) => {
    expect(verifyReceipt(altered, issuer.jwks)).toMatchObject({ kind: 'invalid', code });
    expect(fetched).toEqual([]);
  });

  it('of another issuer under its own kid is none of ours', async () => {
    const theirs = await issue(paidCall, 1, otherIssuer);
    expect(verifyReceipt(theirs, issuer.jwks)).toMatchObject({ code: 'signature_invalid' });
    expect(verifyReceipt(theirs, otherIssuer.jwks).kind).toBe('valid');
  });

  it('as it stands passes both, so that the others fail for what was changed', async () => {
    expect(verifyReceipt(document, issuer.jwks).kind).toBe('valid');
    expect(verifyReceipt(dressed({}, asBefore), issuer.jwks).kind).toBe('valid');
  });
});

/** The key set with other keys in place of the signing key. */
const withOwn = (...instead: Json[]) => ({ keys: [...keys.slice(1), ...instead] });

describe('a key set', () => {
  it.each<[what: string, keys: JsonObject, code: string]>([
    ['in which another key has its kid', withOwn(own, { ...foreign_jwk, kid: issuer.kid }), 'key_ambiguous'],
    ['in which another comes first', withOwn({ ...foreign_jwk, kid: issuer.kid }, own), 'key_ambiguous'],
    ['in which it stands twice', withOwn(own, own), 'key_ambiguous'],
    ['in which its kid is another key’s', withOwn({ ...foreign_jwk, kid: issuer.kid }), 'signature_invalid'],
    ['that has it for encryption', withOwn({ ...own, use: 'enc' }), 'signature_invalid'],
    ['that has it for another operation', withOwn({ ...own, key_ops: ['encrypt'] }), 'signature_invalid'],
    ['that has it for another algorithm', withOwn({ ...own, alg: 'ES384' }), 'signature_invalid'],
    ['that has it for key agreement', withOwn({ ...own, alg: 'ECDH-ES' }), 'signature_invalid'],
    ['that has it on another curve', withOwn({ ...own, crv: 'P-384' }), 'signature_invalid'],
    ['that has it of another type', withOwn({ ...own, kty: 'OKP' }), 'signature_invalid'],
    ['whose key is no point', withOwn({ ...own, y: own.x ?? null }), 'signature_invalid'],
    ['that is none', { keys: 'all' }, 'signature_invalid'],
  ])('%s is refused', async (_, jwks, code) => {
    expect(verifyReceipt(document, jwks)).toMatchObject({ kind: 'invalid', code });
  });

  it('may hold members and keys that are not understood (RFC 7517 §5)', async () => {
    const jwks = { ...withOwn({ ...own, note: 'x' }, { kty: 'new', kid: 'n' }), made_by: base_url };
    expect(verifyReceipt(document, jwks).kind).toBe('valid');
    expect(keys.every(isJsonObject)).toBe(true);
  });
});

/** The key set after the second seed replaced the first, that many seconds after the receipts below were signed. */
function rotated(seconds: number): JsonObject {
  const now_ms = () => collected_at_ms + seconds * 1000;
  return openIssuer([SECOND, FIRST], { base_url, now_ms }).jwks;
}
const [FIRST, SECOND] = ['44'.repeat(32), '55'.repeat(32)] as [string, string];
const opened = (seed: string) => openIssuer([seed], { base_url, now_ms: () => collected_at_ms });

describe('a key of two', () => {
  it.each<[what: string, seed: string, seconds: number, code: string | null]>([
    ['that gave way later', FIRST, 1, null],
    ['that gave way at that moment', FIRST, 0, null],
    ['that gave way within the hour', FIRST, -KEY_OVERLAP_SECONDS, null],
    ['that gave way more than an hour before', FIRST, -KEY_OVERLAP_SECONDS - 1, 'key_retired'],
    ['that was activated before', SECOND, -1, null],
    ['that was activated then, by a clock that is a minute ahead', SECOND, KEY_CLOCK_SECONDS, null],
    ['that was activated more than a minute later', SECOND, KEY_CLOCK_SECONDS + 1, 'key_not_active'],
  ])('%s: what it signed is judged by that', async (_, seed, seconds, code) => {
    const receipt = await issue(paidCall, 1, opened(seed));
    const jwks = rotated(seconds);
    const verified = verifyReceipt(receipt, jwks);
    expect(verified).toMatchObject(code === null ? { kind: 'valid' } : { kind: 'invalid', code });
  });

  it('alone says nothing of its times, and has signed since before they were kept', () => {
    for (const key of issuer.jwks.keys as readonly JsonObject[])
      for (const name of ['nbf', 'exp', 'revoked']) expect(key).not.toHaveProperty(name);
    expect(rotated(0).keys).toMatchObject([
      ...Array(3).fill({ nbf: collected_at_ms / 1000 }),
      ...Array(3).fill({ exp: collected_at_ms / 1000 + KEY_OVERLAP_SECONDS }),
    ]);
  });

  it.each<Json>([
    { revoked_at: 1, reason: 'x', tree_size: 99, root_hash: 'ab' },
    { revoked_at: 9_999_999_999, tree_size: 99 },
    true,
    null,
    {},
  ])('that was revoked proves nothing without the log: revoked %j', async revoked => {
    const jwks = withOwn({ ...own, revoked });
    expect(verifyReceipt(document, jwks)).toMatchObject({ kind: 'invalid', code: 'key_revoked' });
  });
});
