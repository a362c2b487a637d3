import { checksummedAddress } from '../../../schema/eip55.ts';
import type { ErrorCode } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import { eip191Hash } from '../../../schema/secp256k1.ts';
import type { Database } from '../../database.ts';
import type { FreeWalletProofs, WalletVerdict } from '../../wallet-proofs.ts';
import { receiptsByTask } from './find.ts';
import type { Receipt } from './receipt.entity.ts';

/** Proof with which a wallet requests its receipts. */
export interface ReceiptsProof {
  readonly wallet: string;
  readonly signature: string;
  /** Time of the signature, in Unix seconds. */
  readonly signed_at: number;
}

interface WalletChecks {
  readonly wallets: FreeWalletProofs;
  readonly base_urls: readonly string[];
  /** Text that the wallet must have signed for the service at this base URL. @param wallet in EIP-55 spelling */
  text(base_url: string, wallet: string, signed_at: number): string;
  readonly now_ms: number;
  /** Address that the request came from. */
  readonly asker: string;
}

export type WalletProofVerdict =
  | { readonly kind: 'proven'; readonly wallet: string }
  | { readonly kind: 'no_address' | 'stale' }
  | { readonly kind: Exclude<WalletVerdict, 'valid'> };

/** Error for each way in which the proof can fail. */
export const walletFaults = {
  no_address: { code: 'invalid_wallet', param: 'wallet', detail: 'wallet is not an address: 0x and 40 hex digits.' },
  stale: { code: 'control_proof_invalid', param: 'signed_at' },
  invalid: { code: 'control_proof_invalid', param: 'signature' },
  no_turn: { code: 'unavailable' },
  unreachable: { code: 'chain_unavailable' },
} as const satisfies Record<
  Exclude<WalletProofVerdict['kind'], 'proven'>,
  { readonly code: ErrorCode; readonly param?: string; readonly detail?: string }
>;

/** Checks whether the wallet itself made the request, recently. Checks that need no chain come first. */
export async function believeWallet(
  { wallet, signature, signed_at }: ReceiptsProof,
  { wallets, base_urls, text, now_ms, asker }: WalletChecks,
): Promise<WalletProofVerdict> {
  if (!/^0x[0-9a-fA-F]{40}$/.test(wallet)) return { kind: 'no_address' };
  const address = checksummedAddress(wallet);
  const age_seconds = Math.floor(now_ms / 1000) - signed_at;
  const { wallet_signature_age_seconds_max, wallet_signature_ahead_seconds_max } = limits;
  if (age_seconds > wallet_signature_age_seconds_max || age_seconds < -wallet_signature_ahead_seconds_max)
    return { kind: 'stale' };
  if (signature.length > limits.wallet_signature_chars_max || !/^0x([0-9a-fA-F]{2})+$/.test(signature))
    return { kind: 'invalid' };
  const digests = base_urls.map(url => eip191Hash(text(url, address, signed_at)));
  const verdict = await wallets.verifies(address, digests, signature, asker);
  return verdict === 'valid' ? { kind: 'proven', wallet: address } : { kind: verdict };
}

/**
 * Receipts that this wallet has paid for, in the order of the log, after leaf `after`. `next` is the leaf after which there may be more
 * receipts. Null on the last page.
 */
export async function receiptsPaidBy(
  database: Database,
  { wallet, after, count }: { readonly wallet: string; readonly after: number; readonly count: number },
): Promise<{ readonly receipts: Receipt[]; readonly next: number | null }> {
  const found = await database.query<{ task_id: string; leaf_index: number }>({
    name: 'receipts paid by wallet',
    text: `select task_id, leaf_index from receipt where payer_wallet = $1 and payment_ref is not null and leaf_index > $2
      order by leaf_index limit $3`,
    values: [wallet, after, count],
  });
  const receipts = await receiptsByTask(
    database,
    found.map(({ task_id }) => task_id),
  );
  // The rows decide, and not the receipts that are shown: a page that shows one receipt less may not be the last.
  const next = found.length < count ? null : (found.at(-1)?.leaf_index ?? null);
  return { receipts: receipts.filter(receipt => receipt !== null), next };
}
