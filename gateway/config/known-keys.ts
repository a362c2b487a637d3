import { addressOfKey as baseAddress } from '../../schema/secp256k1.ts';
import type { VariableFault } from './fault.ts';
import { solanaAddressOfKey as solanaAddress, solanaKey } from './solana.ts';
import type { Environment, VariableName } from './variables.ts';

/* Refuses, in production, keys and addresses whose private key everybody has. */

/** Accounts whose keys all the world has: the twenty of anvil and hardhat ("test test … junk"), and our own on Solana. */
const known: ReadonlySet<string> = new Set([
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
  '0xbcd4042de499d14e55001ccbb24a551f3b954096',
  '0x71be63f3384f5fb98995898a86b02fb2426c5788',
  '0xfabb0ac9d68b0b445fb7357272ff202c5651694a',
  '0x1cbd3b2770909d4e10f157cabc84c7264073c9ec',
  '0xdf3e18d64bc6a983f673ab319ccae4f1a57c7097',
  '0xcd3b766ccdd6ae721141f452c550ca635964ce71',
  '0x2546bcd3c84621e976d8185a91a922ae77ecec30',
  '0xbda5747bfd65f08deb54cb465eb87d40e51b197e',
  '0xdd2fd4581271e230360230f9337d5c0430bf44c0',
  '0x8626f6940e2eb28930efb4cef49b2d1f2c9c1199',
  '5tugFz1gVzpwbVnxy78d3LopHuWBArMRVej3QNKQYNQy',
  '25ad8ZQaUKgiYjvSDz7yqZAqHDvkiBJUyywonzmkwREj',
  'GUFoHjxDzsaaW57GmrmGqGpSgE3HZdQDBsWfo4Hov5Uw',
  '43XxxMUx6vtR8tWkGeAK9qczVo8k8cwUnYSLUENNHF1M',
  'tCBxRnfi6j5LfqEVuv2Fouta1jxQS7HfX546NmjJJaH',
  'Dztu63uPaeWjNwr3swMeUUUBXjGjqN11B7vibttnzLjq',
]);

/** Where a key or an address of ours may stand, and whose account each of its values is. */
export const accounts = {
  FACILITATOR_KEYS: accountsOfSeeds,
  ISSUER_KEYS: accountsOfSeeds,
  ANCHOR_KEY: accountsOfSeeds,
  PAY_TO_BASE: (text: string) => [text.toLowerCase()],
  SOLANA_FEE_PAYER_KEY: accountsOfSolanaKey,
  PAY_TO_SOLANA: (text: string) => [text],
} as const satisfies Partial<Record<VariableName, (text: string) => readonly string[]>>;

/** What production refuses: money or signatures under a key that anybody can use. */
export function knownKeyFaults(environment: Environment): VariableFault[] {
  return (Object.keys(accounts) as (keyof typeof accounts)[])
    .filter(variable => accounts[variable](environment[variable] ?? '').some(account => known.has(account)))
    .map(variable => ({ variable, problem: 'a development key, which all the world knows' }));
}

/** Of keys that are none, nothing: whoever reads the variable says so. */
function accountsOfSeeds(text: string): readonly string[] {
  const seeds = text.split(',').map(seed => seed.trim().replace(/^0x/i, ''));
  return seeds.filter(seed => /^[0-9a-f]{64}$/i.test(seed)).flatMap(seed => accountOf(Buffer.from(seed, 'hex')));
}

function accountOf(seed: Buffer): readonly string[] {
  try {
    return [baseAddress(seed).toLowerCase()];
  } catch {
    // Zero, or beyond the curve's order.
    return [];
  }
}

function accountsOfSolanaKey(text: string): readonly string[] {
  const key = solanaKey().safeParse(text);
  return key.success ? [solanaAddress(key.data)] : [];
}
