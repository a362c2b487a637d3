import { networks } from '../../../schema/network.ts';
import { type EpochChain, OtherChain, requireAnswer } from '../epoch.ts';
import type { BaseChain } from './chain.ts';

/** Queries by which Base is distinguished from other chains. */
export function epochChainOf(chain: Pick<BaseChain, 'block' | 'chainId'>): EpochChain {
  const blockAt = async (tag: 'finalized' | number) => requireAnswer(await chain.block(tag));
  return {
    network: 'base',
    blockHash: async number => (await blockAt(number))?.hash ?? null,
    finalized: () => blockAt('finalized'),
    async requireOurs() {
      const id = requireAnswer(await chain.chainId());
      const { name, chain_id } = networks.base;
      if (id !== chain_id)
        throw new OtherChain(`BASE_RPC_URL is a node of chain ${id}, and ${name} is chain ${chain_id}`);
    },
  };
}

export interface UnrecognizedChain {
  readonly chain: BaseChain;
  /** Makes the chain usable. */
  release(): void;
}

/**
 * Makes a chain appear unreachable until it is recognized: it must be the chain on which this database was paid, and the log must
 * extend the tree heads that are anchored on it. Until then nothing is accepted, sent, decided or recorded because of the chain,
 * and all callers already handle "unreachable".
 */
export function holdUntilRecognized(chain: BaseChain): UnrecognizedChain {
  const unreachable = { kind: 'unreachable', cause: new Error('the chain has not been recognized yet') } as const;
  const nothing = async () => unreachable;
  const methods = Object.keys(chain).map(name => [name, nothing] as const);
  const receipts: BaseChain['receipts'] = async hashes => hashes.map(() => unreachable);
  const silent: BaseChain = { ...chain, ...Object.fromEntries(methods), receipts, close: chain.close };
  return {
    chain: silent,
    release() {
      Object.assign(silent, chain);
    },
  };
}
