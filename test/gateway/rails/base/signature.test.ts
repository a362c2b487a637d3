import fc from 'fast-check';
import { hashMessage, serializeErc6492Signature } from 'viem';
import { describe, expect, it } from 'vitest';
import { type Hex, hex } from '../../../../gateway/rails/base/abi.ts';
import {
  type BaseSignature,
  forCode,
  isStored,
  readSignature,
  signatureOf,
  signatureOnWire,
  signatureToJson,
  signerOf,
} from '../../../../gateway/rails/base/signature.ts';
import { highS, newAccount } from '../../../harness/base/wallet.ts';

const bytes = (lengths: { minLength?: number; maxLength: number }) => fc.uint8Array(lengths).map(hex);
const account = newAccount();
const digest = hashMessage('a text', 'bytes');
const FACTORY: Hex = `0x${'fa'.repeat(20)}`;

/** Of a key, of a contract wallet, of one that is still to be made. */
const anySignature: fc.Arbitrary<BaseSignature> = fc.oneof(
  fc.record({
    kind: fc.constant<'ecdsa'>('ecdsa'),
    r: bytes({ minLength: 32, maxLength: 32 }),
    s: bytes({ minLength: 32, maxLength: 32 }).map((it): Hex => `0x00${it.slice(4)}`),
    v: fc.constantFrom<27 | 28>(27, 28),
  }),
  fc.record({
    kind: fc.constant<'contract'>('contract'),
    bytes: bytes({ minLength: 1, maxLength: 200 }),
    deploy: fc.option(fc.record({ factory: fc.constant(FACTORY), data: bytes({ minLength: 1, maxLength: 200 }) })),
  }),
);

describe('a signature', () => {
  it('of 65 bytes with high s, or with an unknown v, is read as that', async () => {
    const signature = await account.signMessage({ message: 'a text' });
    expect(readSignature(signature).kind).toBe('read');
    expect(readSignature(highS(signature)).kind).toBe('high_s');
    expect(readSignature(`${signature.slice(0, 130)}1d`).kind).toBe('bad_v');
    expect(readSignature(`${signature}00`).kind).toBe('not_65_bytes');
  });

  it("is its key's for that wallet in any spelling, and for no other", async () => {
    const signature = await account.signMessage({ message: 'a text' });
    expect(signatureOf(account.address.toLowerCase() as Hex, digest, signature).kind).toBe('ecdsa');
    expect(signatureOf(newAccount().address, digest, signature)).toEqual({
      kind: 'contract',
      bytes: signature,
      deploy: null,
    });
  });

  it('of a wallet that is still to be made is taken out of its ERC-6492 wrapping, and goes back into it', () => {
    fc.assert(
      fc.property(bytes({ minLength: 1, maxLength: 300 }), bytes({ minLength: 1, maxLength: 300 }), (signed, data) => {
        const shown = serializeErc6492Signature({ address: FACTORY, data, signature: signed });
        const read = signatureOf(account.address, digest, shown);
        expect(read).toMatchObject({ kind: 'contract', bytes: signed, deploy: { data } });
        expect(read.kind === 'contract' && read.deploy?.factory.toLowerCase()).toBe(FACTORY);
        expect(signatureOnWire(read)).toBe(shown);
      }),
    );
  });

  it("is its key's in an ERC-6492 wrapping too, whatever the wrapping says of a factory; in two it is not", async () => {
    const signature = await account.signMessage({ message: 'a text' });
    const bare = signatureOf(account.address, digest, signature);
    fc.assert(
      fc.property(bytes({ minLength: 20, maxLength: 20 }), bytes({ minLength: 1, maxLength: 300 }), (address, data) => {
        const shown = serializeErc6492Signature({ address, data, signature });
        expect(signatureOf(account.address, digest, shown)).toEqual(bare);
        expect(signatureOf(newAccount().address, digest, shown)).toMatchObject({ kind: 'contract', deploy: { data } });
        const twice = serializeErc6492Signature({ address, data, signature: shown });
        expect(signatureOf(account.address, digest, twice)).toMatchObject({ kind: 'contract', bytes: shown });
      }),
      { numRuns: 30 },
    );
  });

  it('with the magic bytes and no wrapping before them is left as it is', () => {
    fc.assert(
      fc.property(bytes({ maxLength: 100 }), junk => {
        const shown: Hex = `${junk}${'6492'.repeat(16)}`;
        expect(signatureOf(account.address, digest, shown)).toEqual({ kind: 'contract', bytes: shown, deploy: null });
      }),
    );
  });

  it('is known again on its claim, in whichever form, and no other is', () => {
    fc.assert(
      fc.property(anySignature, anySignature, (one, other) => {
        const stored = JSON.parse(JSON.stringify(signatureToJson(one)));
        expect(isStored(stored, one)).toBe(true);
        expect(isStored(stored, forCode(one))).toBe(true);
        expect(isStored(stored, other)).toBe(forCode(one).bytes === forCode(other).bytes);
        // Rows from before there were contract wallets.
        const { kind: _, ...old } = stored;
        if (one.kind === 'ecdsa') expect(isStored(old, one)).toBe(true);
        expect(isStored(null, one)).toBe(false);
      }),
    );
  });
});

describe('who is asked about a signature', () => {
  const factories = new Set([FACTORY]);

  it('is the code where any stands, whatever the signature, and nobody deploys there', () => {
    fc.assert(
      fc.property(anySignature, signature => {
        expect(signerOf(signature, true, factories)).toEqual({ kind: 'code', signature: forCode(signature) });
      }),
    );
  });

  it('is a key, or a wallet made by a factory that is allowed, where none stands; all else is refused', () => {
    fc.assert(
      fc.property(anySignature, signature => {
        const signer = signerOf(signature, false, factories);
        if (signature.kind === 'ecdsa') expect(signer).toEqual({ kind: 'key', signature });
        else if (signature.deploy) {
          expect(signer).toEqual({ kind: 'code', signature });
          expect(signerOf(signature, false, new Set())).toEqual({
            kind: 'refused',
            reason: 'eip6492_factory_not_allowed',
          });
        } else expect(signer).toEqual({ kind: 'refused', reason: 'invalid_exact_evm_payload_signature' });
      }),
    );
  });
});
