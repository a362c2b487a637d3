import { beforeAll, describe, expect, it } from 'vitest';
import {
  type OpenedForeignTransfers,
  openForeignTransfers,
} from '../../../../gateway/rails/foreign/open-foreign-transfers.ts';
import { atomicAmount } from '../../../../schema/amount.ts';
import type { ForeignNetwork } from '../../../../schema/observed-transfer.ts';
import type { Observation } from '../../../../subgraphs/foreign-transfers.ts';
import { newAccount } from '../../../harness/base/wallet.ts';
import { foreignPartsOf } from '../../../harness/foreign.ts';
import { startLyingChain } from '../../../harness/lying-chain.ts';
import { newNanoWallet } from '../../../harness/nano/blocks.ts';

/* All of them at once: each time-out is waited for as long as it lasts. */

const named = {
  base: { transaction: `0x${'1'.repeat(64)}`, pay_to: newAccount().address },
  solana: { transaction: '1'.repeat(88), pay_to: '1'.repeat(44) },
  nano: { transaction: '1'.repeat(64), pay_to: newNanoWallet().address },
} as const satisfies Record<ForeignNetwork, object>;

let observations: Readonly<Record<ForeignNetwork, Promise<Observation>>>;
beforeAll(async () => {
  const node = await startLyingChain('http://127.0.0.1:1');
  node.behave({ kind: 'hang' });
  const transfers: OpenedForeignTransfers = await openForeignTransfers(
    foreignPartsOf({ base_rpc_url: node.url, solana_rpc_url: node.url, nano_rpc_url: node.url }),
  );
  const observe = (network: ForeignNetwork) =>
    transfers.observe({ network, ...named[network], index: null, payer: null, amount_atomic: atomicAmount(1n) });
  observations = { base: observe('base'), solana: observe('solana'), nano: observe('nano') };
});

describe('a node that takes a question and never answers', () => {
  it.each(['base', 'solana', 'nano'] as const)('is not waited for without end: %s', async of => {
    expect(await observations[of]).toMatchObject({
      kind: 'unknown',
      cause: expect.objectContaining({ name: 'TimeoutError' }),
    });
  });
});
