import type { PayoutAccounts } from '../../../subgraphs/board/job/payout-accounts.ts';
import type { SolanaConfig } from '../../config/solana.ts';
import type { SolanaChain } from './chain.ts';

export interface OpenedPayoutAccounts extends PayoutAccounts {
  close(): Promise<void>;
}

/**
 * Checks payees on Solana through a separate client, which is created with the first request because its libraries are large. On
 * Base every address can be paid.
 */
export function openPayoutAccounts(solana: SolanaConfig | null): OpenedPayoutAccounts {
  let opened: Promise<SolanaChain> | null = null;
  return {
    async look(network, address) {
      if (network === 'base') return 'stands';
      if (solana === null) return 'unserved';
      opened ??= import('./open-svm-chain.ts').then(({ openSvmChain }) => openSvmChain(solana));
      return lookAt(await opened, address).catch(() => 'unreachable' as const);
    },
    async close() {
      await (await opened)?.close();
    },
  };
}

/** Whether the payee has a USDC account. One whose owner was changed, or that Circle has frozen, cannot be used for payouts. */
async function lookAt(chain: Pick<SolanaChain, 'holding'>, address: string): ReturnType<PayoutAccounts['look']> {
  const { usdcAccountOf } = await import('./transfer.ts');
  const found = await chain.holding(await usdcAccountOf(address));
  if (found.kind !== 'ok') return 'unreachable';
  const { value: holding } = found.value;
  return holding !== null && holding.owner === address && !holding.frozen ? 'stands' : 'missing';
}
