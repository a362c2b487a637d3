import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { receiptCredential } from '../../../../schema/credential.ts';
import { sha256Hex } from '../../../../schema/digest.ts';
import { signCredential } from '../../../../subgraphs/receipt/envelope/sign.ts';
import { openIssuer } from '../../../../subgraphs/receipt/issuer/signing-keys.ts';
import { verifyCredential } from '../../../../subgraphs/receipt/verify/credential.ts';
import { base_url, issuer, otherIssuer } from '../../../harness/receipt/issue.ts';

const payload = { task_id: 'task_1', issued_at: '2026-01-02T03:04:05.000Z' };
const payload_hash = sha256Hex('{"issued_at":"2026-01-02T03:04:05.000Z","task_id":"task_1"}');
const credential = receiptCredential(payload, { base_url, issuer: issuer.did_web, payload_hash });
const good = signCredential(issuer, credential, 1_767_323_046);

const verdictOf = (jwt: string, jwks: JsonObject = issuer.jwks) => {
  const verified = verifyCredential(jwt, jwks);
  return verified.kind === 'valid' ? 'valid' : verified.code;
};
const text = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The same token with another header and the original signature. */
function headed(members: JsonObject): string {
  const [head = '', body, signature] = good.split('.');
  const header = JSON.parse(Buffer.from(head, 'base64url').toString());
  return [text({ ...header, ...members }), body, signature].join('.');
}

describe('a credential of a receipt', () => {
  it('verifies, and says of which payload it is', () => {
    expect(verifyCredential(good, issuer.jwks)).toMatchObject({
      kind: 'valid',
      payload,
      payload_hash,
      iss: 'did:web:svc.example',
      iat: 1_767_323_046,
    });
  });

  it('of which any character is another does not', () => {
    for (let at = 0; at < good.length; at++) {
      const other = good[at] === 'A' ? 'B' : 'A';
      expect(verdictOf(`${good.slice(0, at)}${other}${good.slice(at + 1)}`), `character ${at}`).not.toBe('valid');
    }
  });

  it('does not with alg none, by a shared secret, nor with another header', () => {
    const [, body = ''] = good.split('.');
    for (const [name, value] of [
      ['alg', 'none'],
      ['alg', 'ES384'],
      ['kid', issuer.kid],
      ['typ', 'JWT'],
      ['cty', 'JWT'],
    ] as const)
      expect(verdictOf(headed({ [name]: value })), value).toBe('signature_invalid');
    expect(verdictOf(`${text({ alg: 'none' })}.${body}.`)).toBe('signature_invalid');
    const input = `${text({ alg: 'HS256', kid: `did:web:svc.example#${issuer.kid}`, typ: 'vc+jwt', cty: 'vc' })}.${body}`;
    const mac = createHmac('sha256', issuer.kid).update(input).digest('base64url');
    expect(verdictOf(`${input}.${mac}`)).toBe('signature_invalid');
    expect(verdictOf(headed({ crit: ['x'], x: 1 }))).toBe('malformed');
  });

  it('does not by the keys of another, nor where another says that it is the issuer', () => {
    expect(verdictOf(good, otherIssuer.jwks)).toBe('signature_invalid');
    const [did, iss] = ['did:web:other.example', base_url];
    const foreign = openIssuer(['33'.repeat(32)], { base_url: 'https://other.example', now_ms: Date.now });
    const claimed = receiptCredential(payload, { base_url: iss, issuer: did, payload_hash });
    expect(verdictOf(signCredential(foreign, claimed, 1), foreign.jwks)).toBe('issuer_foreign');
    expect(verdictOf(signCredential(foreign, credential, 1), foreign.jwks)).toBe('signature_invalid');
  });

  it('does not where it is signed, and its payload hash is another or a member more is said', () => {
    const subject = credential.credentialSubject as JsonObject;
    const wrong = { ...credential, credentialSubject: { ...subject, payload_hash: '0'.repeat(64) } };
    for (const forged of [wrong, { ...credential, extra: 1 }, { ...credential, validFrom: '2020-01-01T00:00:00Z' }])
      expect(verdictOf(signCredential(issuer, forged, 1))).toBe('credential_differs');
  });

  it('is signed by the current key alone, and what an older one signed goes on verifying', () => {
    const next = openIssuer(['44'.repeat(32), '22'.repeat(32)], { base_url, now_ms: () => 1_767_323_100_000 });
    const anew = signCredential(next, credential, 1_767_323_100);
    const [header = ''] = anew.split('.');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString()).kid).toBe(`did:web:svc.example#${next.kid}`);
    expect(next.kid).not.toBe(issuer.kid);
    expect([verdictOf(good, next.jwks), verdictOf(anew, next.jwks)]).toEqual(['valid', 'valid']);
  });

  it('does not outside the time of its key, nor where that was revoked', () => {
    const aged = (members: JsonObject) => ({
      keys: (issuer.jwks.keys as JsonObject[]).map(key => ({ ...key, ...members })),
    });
    const iat = 1_767_323_046;
    expect(verdictOf(good, aged({ nbf: iat, exp: iat }))).toBe('valid');
    const revoked = { revoked_at: iat, tree_size: 9 };
    for (const [name, value] of Object.entries({ nbf: iat + 3_600, exp: iat - 1, revoked }))
      expect(verdictOf(good, aged({ [name]: value })), name).toBe('key_not_in_force');
  });

  it('nothing else is one', () => {
    for (const jwt of ['', 'a.b.c', 'e30.e30.', issuer.signJws({ iss: base_url }), signCredential(issuer, {}, 1)])
      expect(verdictOf(jwt)).toBe('malformed');
  });
});
