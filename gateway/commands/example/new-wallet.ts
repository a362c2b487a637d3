import { createPublicClient, createWalletClient, erc20Abi, type Hex, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';

/** What DATA_DIR/development.json says, as far as a wallet is made by it. */
export interface DevelopmentChain {
  readonly url: string;
  readonly base_rpc_url: string;
  readonly usdc: Hex;
  /** Those that hold USDC. Empty if the service was started on a chain of somebody else. */
  readonly wallets: readonly { readonly private_key: Hex }[];
}

/** 1 USDC. */
const AMOUNT_ATOMIC = 1_000_000n;

/** The key of a wallet that nobody has used, with 1 USDC of the development chain. Null if no wallet there can give any. */
export async function newDevelopmentWallet({ base_rpc_url, usdc, wallets }: DevelopmentChain): Promise<Hex | null> {
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
