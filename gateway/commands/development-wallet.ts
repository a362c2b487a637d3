import { createPublicClient, createWalletClient, erc20Abi, type Hex, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import type { DevelopmentFile } from '../operations/development-file.ts';

/** Amount that a new wallet gets: 1 USDC. */
const AMOUNT_ATOMIC = 1_000_000n;

/** Returns the key of an unused wallet with 1 USDC on the development chain. Null on any other chain. */
export async function newDevelopmentWallet({ base_rpc_url, usdc, wallets }: DevelopmentFile): Promise<Hex | null> {
  const [rich] = wallets;
  if (!rich) return null;
  const transport = http(base_rpc_url);
  const giver = createWalletClient({ account: privateKeyToAccount(rich.private_key), chain: base, transport });
  const key = generatePrivateKey();
  const args = [privateKeyToAccount(key).address, AMOUNT_ATOMIC] as const;
  const hash = await giver.writeContract({ address: usdc, abi: erc20Abi, functionName: 'transfer', args });
  await createPublicClient({ chain: base, transport }).waitForTransactionReceipt({ hash });
  return key;
}
