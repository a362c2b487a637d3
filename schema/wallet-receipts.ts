import { signedText } from './signed-words.ts';

/*
 * Text that a wallet signs to list the receipts of its payments. It names the service, so that the signature cannot be used at
 * another one.
 */

/** EIP-191 (personal_sign). `wallet` in EIP-55 spelling, `at_seconds` Unix time. */
export function walletReceiptsText(base_url: string, wallet: string, at_seconds: number): string {
  return signedText('receipts', base_url, { checksum_address: wallet, unix_seconds: at_seconds });
}

/**
 * Text that a wallet signs to allow a reconciliation by an agent. It names the agent, because the report says whose wallet it is
 * and counts payments to that agent as self-dealt.
 */
export function reconciliationText(base_url: string, agent_id: number, wallet: string, at_seconds: number): string {
  return signedText('reconcile', base_url, { agent_id, checksum_address: wallet, unix_seconds: at_seconds });
}
