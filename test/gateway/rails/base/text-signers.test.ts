import { generateKeyPair, getAddressFromPublicKey, getBase58Decoder, signBytes } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { isTextSignedOnBase as signedOnBase } from '../../../../gateway/rails/base/base-rail.ts';
import { openBase } from '../../../../gateway/rails/base/open-base.ts';
import { openWalletProofs } from '../../../../gateway/rails/base/wallets.ts';
import { isTextSignedOnSolana as signedOnSolana } from '../../../../gateway/rails/solana/solana-rail.ts';
import { readRedelivery, redeliveryText } from '../../../../schema/redeliver-header.ts';
import { Semaphore } from '../../../../subgraphs/semaphore.ts';
import { newAccount } from '../../../harness/base/wallet.ts';
import { freshChain } from '../../../harness/chain.ts';
import { atEnd } from '../../../harness/release.ts';
import { openWallets, type TestWallets } from '../../../harness/wallets.ts';

let wallets: TestWallets;
let asking: Parameters<typeof signedOnBase>[0];
beforeAll(async () => {
  const chain = await freshChain();
  wallets = openWallets(chain);
  const base = openBase({ rpc_url: chain.rpc_url });
  atEnd(() => base.close());
  asking = { wallets: openWalletProofs(base), searches: newSearches() };
});

const newSearches = () => new Semaphore({ at_once_max: 1, wait_ms_max: 1_000, waiting_per_asker_max: 4 });
const asker = '203.0.113.7';
const base_url = 'https://svc.example/api';
const payment_id = `0x${'ab'.repeat(32)}`;
const text = redeliveryText({ base_url, network: 'base', payment_id, at_seconds: 1_790_000_000 });

describe('who has signed a text', () => {
  it('on Base is a key by its signature alone, and a contract wallet by its code', async () => {
    const account = newAccount();
    const wallet = await wallets.plain(0n);
    for (const signer of [account, wallet]) {
      const signature = await signer.signMessage({ message: text });
      expect(await signedOnBase(asking, { payer: signer.address, text, signature, asker })).toBe(true);
      expect(await signedOnBase(asking, { payer: signer.address, text: `${text}0`, signature, asker })).toBe(false);
      expect(await signedOnBase(asking, { payer: newAccount().address, text, signature, asker })).toBe(false);
    }
  });

  it.each(['', '0x', '0xabc', 'ab'.repeat(65), `0x${'ab'.repeat(6_001)}`])(
    'on Base is nobody by %j',
    async signature => {
      expect(await signedOnBase(asking, { payer: newAccount().address, text, signature: signature, asker })).toBe(
        false,
      );
    },
  );

  it('on Solana is a key, by Ed25519 in base58; an address that is none, and bytes that are none, are nobody', async () => {
    const keys = await generateKeyPair();
    const address = await getAddressFromPublicKey(keys.publicKey);
    const signature = getBase58Decoder().decode(await signBytes(keys.privateKey, new TextEncoder().encode(text)));
    const other = await getAddressFromPublicKey((await generateKeyPair()).publicKey);
    expect(await signedOnSolana({ payer: address, text, signature })).toBe(true);
    expect(await signedOnSolana({ payer: address, text: `${text}0`, signature })).toBe(false);
    expect(await signedOnSolana({ payer: other, text, signature })).toBe(false);
    expect(await signedOnSolana({ payer: 'no address', text, signature })).toBe(false);
    for (const none of ['', '0', signature.slice(2), `${signature}1`])
      expect(await signedOnSolana({ payer: address, text, signature: none })).toBe(false);
  });

  it('on Solana is its key, wherever in memory the text comes to lie', async () => {
    const keys = await generateKeyPair();
    const payer = await getAddressFromPublicKey(keys.publicKey);
    const signature = getBase58Decoder().decode(await signBytes(keys.privateKey, new TextEncoder().encode(text)));
    for (let round = 0; round < 20; round++) {
      fillPool();
      expect(await signedOnSolana({ payer, text, signature })).toBe(true);
    }
  });
});

/** The next small Buffer is the first in a pool of Node's: kit takes the memory of such a one for all that is meant. */
function fillPool(): void {
  // By eights, as Node aligns them.
  const here = Buffer.allocUnsafe(8);
  let left_bytes = here.buffer.byteLength - here.byteOffset - 8;
  while (left_bytes > 0) left_bytes -= Buffer.allocUnsafe(Math.min(left_bytes, Buffer.poolSize / 4)).length;
}

describe('a contract wallet', () => {
  it('is asked in the line of the address that the signature came from, whoever is named as the payer', async () => {
    const askers: string[] = [];
    const proofs = {
      async verifies(_wallet: string, _digest: Uint8Array, _signature: string, from: string) {
        askers.push(from);
        return 'invalid' as const;
      },
    };
    const shown = { payer: newAccount().address, text, signature: '0xab', asker };
    expect(await signedOnBase({ wallets: proofs, searches: newSearches() }, shown)).toBe(false);
    expect(askers).toEqual([asker]);
  });
});

describe('the header', () => {
  it('is a time, a colon and a signature, and nothing else', () => {
    expect(readRedelivery('1790000000:0xab')).toEqual({ at_seconds: 1_790_000_000, signature: '0xab' });
    for (const header of ['', ':', '1:', ':0x', '1.5:0x', '-1:0xab', '1:0xab:', '1: 0xab', `${'9'.repeat(13)}:0xab`])
      expect(readRedelivery(header)).toBeNull();
  });
});
