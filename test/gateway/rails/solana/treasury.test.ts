import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { solanaWallet } from '../../../../gateway/development/svm/wallets.ts';
import { NoTreasury, requireTreasury } from '../../../../gateway/rails/solana/open-solana.ts';
import { openSvmChain } from '../../../../gateway/rails/solana/open-svm-chain.ts';
import { atEnd } from '../../../harness/release.ts';
import { freshSvm } from '../../../harness/svm.ts';

it('a treasury is one that can be paid: with a USDC account of its own', async () => {
  const svm = await freshSvm();
  const chain = openSvmChain(svm);
  atEnd(() => chain.close());
  const { address } = solanaWallet(randomBytes(32));
  await expect(requireTreasury(chain, address)).rejects.toThrow(NoTreasury);
  await svm.fund(address, {});
  await requireTreasury(chain, address);
  const handedOver: typeof chain.holding = async () => ({
    kind: 'ok',
    value: { slot: 1, value: { owner: svm.fee_payer.address, amount_atomic: 0n, frozen: false } },
  });
  await expect(requireTreasury({ holding: handedOver }, address)).rejects.toThrow(NoTreasury);
});
