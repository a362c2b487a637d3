import type { Words } from './words.ts';

/** The networks that payments are made on, each under its three names. */
export const networks = {
  base: {
    name: 'base',
    caip2: 'eip155:8453',
    chain_id: 8453,
    usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    /** USDC's EIP-712 domain on Base; the name differs from testnets ("USDC"). */
    usdc_domain: { name: 'USD Coin', version: '2' },
    multicall3: '0xcA11bde05977b3631167028862bE2a173976CA11',
    /** Arachnid's deterministic deployment proxy: the address of a contract that it creates depends only on the contract's code. */
    deployment_proxy: '0x4e59b44847b379578588920cA78FbF26c0B4956C',
  },
  solana: {
    name: 'solana',
    caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    usdc: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  },
} as const;

export type NetworkName = keyof typeof networks;

export const networkWords: Words<NetworkName> = {
  graph: 'Network',
  description: 'A network on which this service is paid.',
  meanings: {
    base: `Base, a rollup on Ethereum (CAIP-2: ${networks.base.caip2}).`,
    solana: `Solana, its mainnet (CAIP-2: ${networks.solana.caip2}).`,
  },
};

/** `base`, `eip155:8453` → `base`. Null for a network without settlement. */
export function networkNamed(name: string): NetworkName | null {
  for (const network of Object.values(networks))
    if (network.name === name || network.caip2 === name) return network.name;
  return null;
}
