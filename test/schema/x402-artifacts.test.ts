import fc from 'fast-check';
import { hashTypedData, hexToBytes } from 'viem';
import { expect, it } from 'vitest';
import { offerDigest, receiptDigest } from '../../schema/x402-artifacts.ts';

/* What shops sign for x402, hashed as wallets hash it (viem). */

const text = fc.string({ unit: 'grapheme', maxLength: 60 });
const number = fc.nat();

const typed = (names: readonly string[]) =>
  names.map(name => ({ name, type: ['version', 'validUntil', 'issuedAt'].includes(name) ? 'uint256' : 'string' }));

function byViem(name: string, type: string, members: Readonly<Record<string, string | number>>): Uint8Array {
  const message = Object.fromEntries(
    Object.entries(members).map(([key, value]) => [key, typeof value === 'number' ? BigInt(value) : value]),
  );
  const domain = { name, version: '1', chainId: 1 };
  return hexToBytes(
    hashTypedData({ domain, types: { [type]: typed(Object.keys(members)) }, primaryType: type, message }),
  );
}

it('an offer has the digest that a wallet signs', () => {
  const terms = fc.record({
    version: number,
    resourceUrl: text,
    scheme: text,
    network: text,
    asset: text,
    payTo: text,
    amount: text,
    validUntil: number,
  });
  fc.assert(
    fc.property(terms, it => {
      expect(Buffer.from(offerDigest(it))).toEqual(Buffer.from(byViem('x402 offer', 'Offer', it)));
    }),
    { numRuns: 50 },
  );
});

it('a receipt has the digest that a wallet signs', () => {
  const facts = fc.record({
    version: number,
    network: text,
    resourceUrl: text,
    payer: text,
    issuedAt: number,
    transaction: text,
  });
  fc.assert(
    fc.property(facts, it => {
      expect(Buffer.from(receiptDigest(it))).toEqual(Buffer.from(byViem('x402 receipt', 'Receipt', it)));
    }),
    { numRuns: 50 },
  );
});
