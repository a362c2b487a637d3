import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, it } from 'vitest';
import { verifyTextForService } from '../../subgraphs/verify-for-service.ts';
import type { WalletVerdict } from '../../subgraphs/wallet-proofs.ts';

/* Finds the name of this service under which a text was signed. */

const texts = ['of now', 'of before', 'of the first'];
const account = privateKeyToAccount(generatePrivateKey());

/** The texts that are checked, with a wallet contract that gives this verdict on each. */
async function addressesChecked(signature: string, verdict: WalletVerdict, network = 'base') {
  const asked: string[] = [];
  const by = { network, payer: account.address, signature };
  const heard = await verifyTextForService(texts, by, async text => {
    asked.push(text);
    return verdict;
  });
  return { heard, asked };
}

it('the one that the key of the wallet has signed is asked about alone', async () => {
  for (const message of texts) {
    const signature = await account.signMessage({ message });
    expect(await addressesChecked(signature, 'valid')).toEqual({ heard: 'valid', asked: [message] });
    expect(await addressesChecked(signature, 'invalid')).toEqual({ heard: 'invalid', asked: [message] });
  }
});

it('where no key has signed, each is asked about in order, until one is somebody’s or nobody can be asked', async () => {
  const other = await privateKeyToAccount(generatePrivateKey()).signMessage({ message: 'of before' });
  for (const signature of [other, '0x', `0x${'z'.repeat(130)}`, 'of another form']) {
    expect(await addressesChecked(signature, 'invalid')).toEqual({ heard: 'invalid', asked: texts });
    for (const verdict of ['valid', 'unreachable', 'no_turn'] as const)
      expect(await addressesChecked(signature, verdict)).toEqual({ heard: verdict, asked: [texts[0]] });
  }
  const signature = await account.signMessage({ message: 'of before' });
  expect((await addressesChecked(signature, 'invalid', 'solana')).asked).toEqual(texts);
});
