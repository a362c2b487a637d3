import fc from 'fast-check';
import { getAddress } from 'viem';
import { expect, it } from 'vitest';
import { checksummedAddress } from '../../schema/eip55.ts';

it('an address is spelt as viem spells it, however it came', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), bytes => {
      const plain = `0x${Buffer.from(bytes).toString('hex')}`;
      expect(checksummedAddress(plain)).toBe(getAddress(plain));
      expect(checksummedAddress(`0x${plain.slice(2).toUpperCase()}`)).toBe(getAddress(plain));
    }),
  );
});

// EIP-55's own test vectors.
it.each(['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB'])('%s', address => {
  expect(checksummedAddress(address.toLowerCase())).toBe(address);
});
