import { networks } from '../../../schema/network.ts';
import { type EpochChain, OtherChain, reached } from '../epoch.ts';
import type { BaseChain } from './chain.ts';

/** Base, as far as one chain is told from another. */
export function epochChainOf(chain: Pick<BaseChain, 'block' | 'chainId'>): EpochChain {
  const blockAt = async (tag: 'finalized' | number) => reached(await chain.block(tag));
  return {
    network: 'base',
    blockHash: async number => (await blockAt(number))?.hash ?? null,
    finalized: () => blockAt('finalized'),
    async requireOurs() {
      const id = reached(await chain.chainId());
      const { name, chain_id } = networks.base;
      if (id !== chain_id)
        throw new OtherChain(`BASE_RPC_URL is a node of chain ${id}, and ${name} is chain ${chain_id}`);
    },
  };
}
