import { signedText } from './signed-words.ts';

/*
 * What a wallet signs to be told which receipts it has paid for. It names the service, so that whoever is shown it cannot ask another
 * for the same.
 */

/** EIP-191 (personal_sign). `wallet` in EIP-55 spelling, `at_seconds` Unix time. */
export function walletReceiptsText(base_url: string, wallet: string, at_seconds: number): string {
  return signedText('receipts', base_url, { checksum_address: wallet, unix_seconds: at_seconds });
}

/**
 * What a wallet signs that an agent is to have its transfers gone through: it names the agent, since the report says whose the wallet
 * is, and counts what it paid that agent as paid to itself.
 */
export function reconciliationText(base_url: string, agent_id: number, wallet: string, at_seconds: number): string {
  return signedText('reconcile', base_url, { agent_id, checksum_address: wallet, unix_seconds: at_seconds });
}
