import { Sign1 } from '@auth0/cose';
import { importJWK } from 'jose';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { openIssuer } from '../../../../subgraphs/receipt/issuer/signing-keys.ts';
import { parseSign1, sigStructure, verifySign1 } from '../../../../subgraphs/receipt/verify/cose.ts';
import { verifyStatement } from '../../../../subgraphs/receipt/verify/statement.ts';
import { issuer, otherIssuer } from '../../../harness/receipt/issue.ts';
import { assemble, cbor, makeStatement, partsOf, receiptIn } from '../../../harness/receipt/statement-parts.ts';
import { coseForged, coseKey, coseSigned } from '../../../harness/vectors/cose.ts';

const hex = (text: string) => Buffer.from(text, 'hex');

const clock = { now_ms: () => Date.parse('2026-01-02T03:04:06.000Z') };

describe('a published COSE_Sign1', () => {
  const jwks = { keys: [coseKey] };
  const kid = Buffer.from('11');
  const verified = (bytes: Buffer) => {
    const message = parseSign1(bytes);
    return !!message?.payload && verifySign1(message, message.payload, jwks, kid);
  };

  it('is signed over the bytes that are published with it, and verifies', () => {
    const message = parseSign1(hex(coseSigned.cbor));
    if (!message?.payload) throw new Error('the example cannot be read');
    const signed = Buffer.from(sigStructure(message.protected_header, message.payload));
    expect(signed).toEqual(hex(coseSigned.to_be_signed));
    expect(verified(hex(coseSigned.cbor))).toBe(true);
  });

  it.each(Object.entries(coseForged))('does not with %s', (_what, text) => {
    expect(verified(hex(text))).toBe(false);
  });
});

describe('a transparent statement', () => {
  const payload = { schema: 'svc402.receipt.v1', task_id: 'task_1' };
  const good = makeStatement(payload);
  const verdictOf = (bytes: Uint8Array, jwks: JsonObject = issuer.jwks) => {
    const verified = verifyStatement(bytes, jwks);
    return verified.kind === 'valid' ? 'valid' : verified.code;
  };

  it('verifies, and says where in which log it stands', () => {
    expect(verifyStatement(good, issuer.jwks)).toMatchObject({
      kind: 'valid',
      payload,
      iss: issuer.base_url,
      leaf_index: 1,
      tree_size: 2,
    });
  });

  it('of which any bit is another does not', async () => {
    for (let at = 0; at < good.length * 8; at++) {
      const forged = Uint8Array.from(good);
      forged[at >> 3] = (forged[at >> 3] ?? 0) ^ (1 << (at & 7));
      expect(verdictOf(forged), `bit ${at}`).not.toBe('valid');
    }
  });

  it('does not by the keys of another, nor where another key has its kid', () => {
    expect(verdictOf(good, otherIssuer.jwks)).toBe('signature_invalid');
    const [own] = (issuer.jwks.keys as JsonObject[]).filter(({ crv }) => crv === 'P-256');
    const foreign = (otherIssuer.jwks.keys as JsonObject[]).map(key => ({ ...key, kid: own?.kid ?? '' }));
    expect(verdictOf(good, { keys: foreign })).toBe('signature_invalid');
  });

  it.each([
    ['ES384', -35],
    ['EdDSA', -8],
    ['HMAC 256/256', 5],
    ['none', 0],
    ['text', 'ES256'],
  ])('does not with the algorithm %s', (_name, alg) => {
    const parts = partsOf(good);
    parts.protected_header.set(1, alg);
    expect(verdictOf(assemble(parts))).toBe('signature_invalid');
  });

  it('does not where it is signed, and is not of the payload that it holds', () => {
    expect(verdictOf(makeStatement(payload, { statement: { sub: 'task_2' } }))).toBe('payload_differs');
    expect(verdictOf(makeStatement(payload, { statement: { header: [[3, 'text/plain']] } }))).toBe('payload_differs');
    expect(verdictOf(makeStatement(payload, { text: '{"task_id":"task_1", "schema":"svc402.receipt.v1"}' }))).toBe(
      'payload_differs',
    );
    expect(verdictOf(makeStatement(payload, { text: '\uFEFF{"task_id":"task_1"}' }))).toBe('payload_differs');
  });

  it('does not with an inclusion proof of another entry, another size, another log or another tree', () => {
    const foreign = partsOf(good);
    foreign.unprotected.set(394, [receiptIn(makeStatement({ ...payload, task_id: 'task_2' }))]);
    expect(verdictOf(assemble(foreign))).toBe('inclusion_invalid');
    expect(verdictOf(makeStatement(payload, { entry: 'another' }))).toBe('inclusion_invalid');
    expect(verdictOf(makeStatement(payload, { logged_by: otherIssuer }))).toBe('inclusion_invalid');
    expect(
      verdictOf(
        makeStatement(payload, {
          log: {
            header: [
              [395, 2],
              ['tree_size', 2],
            ],
          },
        }),
      ),
    ).toBe('inclusion_invalid');
    expect(
      verdictOf(
        makeStatement(payload, {
          log: {
            header: [
              [395, 1],
              ['tree_size', 3],
            ],
          },
        }),
      ),
    ).toBe('log_foreign');
    const elsewhere = openIssuer(['22'.repeat(32)], { ...clock, base_url: 'https://other.example' });
    expect(verdictOf(makeStatement(payload, { logged_by: elsewhere }))).toBe('log_foreign');
  });

  it('verifies by the name that the log had before the service moved', () => {
    const moved = openIssuer(['22'.repeat(32)], { ...clock, base_url: 'https://moved.example' });
    expect(verdictOf(makeStatement(payload, { by: moved }))).toBe('valid');
  });

  it('does not without a receipt, with one more, or with anything else that nobody signed', () => {
    const receipts = [receiptIn(good)];
    for (const unprotected of [new Map(), new Map([[394, []]]), new Map([[394, [...receipts, ...receipts]]])])
      expect(verdictOf(assemble({ ...partsOf(good), unprotected }))).toBe('malformed');
    const more = new Map<unknown, unknown>([
      [394, receipts],
      ['note', 'x'],
    ]);
    expect(verdictOf(assemble({ ...partsOf(good), unprotected: more }))).toBe('malformed');
  });

  it('does not where an extension of it is critical, or it is encoded in another way than the one', () => {
    expect(
      verdictOf(
        makeStatement(payload, {
          statement: {
            header: [
              [3, 'application/json'],
              [2, 99],
            ],
          },
        }),
      ),
    ).toBe('malformed');
    expect(verdictOf(Buffer.concat([good, Buffer.of(0)]))).toBe('malformed');
    // The same four members in an array of indefinite length.
    expect(verdictOf(Buffer.concat([Buffer.of(0xd2, 0x9f), good.subarray(2), Buffer.of(0xff)]))).toBe('malformed');
    for (const bytes of [cbor(1), cbor([1]), cbor(new Map()), Buffer.alloc(0), Buffer.from('{}')])
      expect(verdictOf(bytes)).toBe('malformed');
  });

  it('is judged by the times of its keys, and by the log where one was revoked', () => {
    const aged = (members: JsonObject) => ({
      keys: (issuer.jwks.keys as JsonObject[]).map(key => ({ ...key, ...members })),
    });
    const iat = 1_767_323_046;
    expect(verdictOf(good, aged({ nbf: iat, exp: iat }))).toBe('valid');
    const revoked = { revoked_at: iat, tree_size: 1 };
    for (const [name, value] of Object.entries({ nbf: iat + 3_600, exp: iat - 1, revoked }))
      expect(verdictOf(good, aged({ [name]: value })), name).toBe('key_not_in_force');
    // The log's key is valid. The statement's key was revoked when the log had that many leaves.
    const other = makeStatement(payload, { logged_by: otherIssuer });
    const revokedAt = (tree_size: number) => ({
      keys: [...aged({ revoked: { revoked_at: iat, tree_size } }).keys, ...(otherIssuer.jwks.keys as JsonObject[])],
    });
    expect([verdictOf(other, revokedAt(2)), verdictOf(other, revokedAt(1))]).toEqual(['valid', 'key_not_in_force']);
  });

  it('verifies by a library of others, too', async () => {
    const [jwk] = (issuer.jwks.keys as JsonObject[]).filter(({ crv }) => crv === 'P-256');
    const key = await importJWK({ ...jwk }, 'ES256');
    await Sign1.decode(good).verify(key as never);
    const forged = Uint8Array.from(good);
    forged[good.length - 1] = (good.at(-1) ?? 0) ^ 1;
    await expect(Sign1.decode(forged).verify(key as never)).rejects.toThrow();
  });
});
