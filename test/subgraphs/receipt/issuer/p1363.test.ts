import { generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import { expect, it } from 'vitest';
import { p1363 } from '../../../../subgraphs/receipt/issuer/signers.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

it('writes r and s side by side, however short DER has made them', () => {
  const lengths = new Set<number>();
  for (let round = 0; round < 2_000; round++) {
    const text = randomBytes(8);
    const der = sign('sha256', text, privateKey);
    lengths.add(der.length);
    const joined = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
    expect(verify('sha256', text, joined, p1363(der))).toBe(true);
  }
  expect(lengths.size).toBeGreaterThan(2);
});

it('pads what is a byte long, and takes the zero off that marks a number as positive', () => {
  const r = [0x02, 0x01, 0x07];
  const s = [0x02, 0x21, 0x00, ...Array<number>(32).fill(0xff)];
  const der = Uint8Array.of(0x30, r.length + s.length, ...r, ...s);
  expect(p1363(der).toString('hex')).toBe(`${'00'.repeat(31)}07${'ff'.repeat(32)}`);
});

it.each([
  ['nothing', ''],
  ['no sequence', '3106020101020102'],
  ['one number', '3003020101'],
  ['more than two numbers', '3009020101020102020103'],
  ['a number without bytes', '300502000201ff'],
  ['a number that is too long', `3026${'0221'}01${'00'.repeat(32)}020101`],
  ['fewer bytes than it says', '30060201010203ff'],
  ['a length that is not its own', '3007020101020102'],
])('refuses %s', (_, der) => {
  expect(() => p1363(Buffer.from(der, 'hex'))).toThrow(RangeError);
});
