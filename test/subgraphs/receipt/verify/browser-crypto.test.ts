import { generateKeyPairSync, sign, verify as verifyHere } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPublicKey, verify } from '../../../../subgraphs/receipt/verify/browser/crypto.ts';

/* The code by which browsers verify gives the same results as Node's, for the first documents of a key and for later ones. */

it('ES256 by a key that signs many: the same as Node, good and altered', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = createPublicKey({ key: publicKey.export({ format: 'jwk' }) });
  let held = 0;
  const same = (data: Uint8Array, flip: number) => {
    const signature = sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
    if (flip < 512) signature[flip >> 3] = (signature[flip >> 3] ?? 0) ^ (1 << (flip & 7));
    const here = verifyHere('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
    expect(verify('sha256', data, { key }, signature)).toBe(here);
    held += here ? 1 : 0;
  };
  fc.assert(fc.property(fc.uint8Array(), fc.nat({ max: 1_023 }), same), { numRuns: 120 });
  expect(held).toBeGreaterThan(20);
  for (const bad of [Buffer.alloc(64), Buffer.alloc(64, 0xff), Buffer.alloc(63)])
    expect(verify('sha256', Buffer.of(1), { key }, bad)).toBe(false);
});
