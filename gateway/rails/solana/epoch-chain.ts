import { networks } from '../../../schema/network.ts';
import { type EpochChain, OtherChain, reached } from '../epoch.ts';
import type { SvmChain } from './chain.ts';

/** CAIP-2 names a Solana by the first 32 characters of its genesis hash. */
const GENESIS = networks.solana.caip2.slice('solana:'.length);

/** Solana, as far as one chain is told from another: by its genesis. */
export function epochChainOf(chain: Pick<SvmChain, 'genesisHash'>): EpochChain {
  const genesis = async () => reached(await chain.genesisHash());
  return {
    network: 'solana',
    blockHash: async number => (number === 0 ? genesis() : null),
    finalized: async () => null,
    async requireOurs(profile) {
      // A development chain takes the place of the real one, and has a genesis of its own.
      if (profile === 'development') return;
      const hash = await genesis();
      if (!hash.startsWith(GENESIS))
        throw new OtherChain(
          `SOLANA_RPC_URL is a node of the chain that begins with ${hash}, and solana with ${GENESIS}`,
        );
    },
  };
}
