import { readFile } from 'node:fs/promises';
import { type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { spelt } from '../../../../schema/eip55.ts';
import { walletReceiptsText } from '../../../../schema/wallet-receipts.ts';
import type { Clock } from '../../../../subgraphs/clock.ts';
import { OperatorFault } from '../../../config/fault.ts';
import { givenWalletKey } from '../../../config/wallet-key.ts';

/** By what the service believes that this wallet asks. */
export interface WalletProof {
  readonly signed_at: number;
  readonly signature: string;
}

/** Signs anew each time where the key is here; a signature that was made elsewhere is the same each time, while it passes. */
export type SignWallet = () => Promise<WalletProof>;

/** @throws OperatorFault where nothing can sign for this wallet */
export async function walletSigner(
  { wallet, base_url, signature_file }: { wallet: string; base_url: string; signature_file: string | null },
  clock: Clock,
): Promise<SignWallet> {
  const now_seconds = () => Math.floor(clock.now_ms() / 1000);
  if (signature_file !== null) {
    const made = await readSignature(signature_file);
    return async () => made;
  }
  const key = givenWalletKey();
  if (key === null) {
    const text = walletReceiptsText(base_url, spelt(wallet), now_seconds());
    throw new OperatorFault(
      `nothing signs for ${wallet}: give its key in WALLET_KEY, or sign \`${text}\` (personal_sign) with it, write \`<its unix seconds>:<signature>\` into a file and give that by --signature-file within 5 minutes`,
    );
  }
  const account = privateKeyToAccount(key.reveal() as Hex);
  if (account.address.toLowerCase() !== wallet.toLowerCase())
    throw new OperatorFault(`WALLET_KEY is not the key of ${wallet}`);
  return async () => {
    const signed_at = now_seconds();
    const message = walletReceiptsText(base_url, account.address, signed_at);
    return { signed_at, signature: await account.signMessage({ message }) };
  };
}

async function readSignature(file: string): Promise<WalletProof> {
  const text = await readFile(file, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw new OperatorFault(`${file}: the signature cannot be read (${code})`);
  });
  const [, at, signature] = /^(\d{1,10}):(0x[0-9a-fA-F]+)$/.exec(text.trim()) ?? [];
  if (at === undefined || signature === undefined)
    throw new OperatorFault(`${file} holds no signature: <unix seconds>:0x…`);
  return { signed_at: Number(at), signature };
}
