import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { believeWallet, type WalletProofVerdict, walletFaults } from '../../receipt/receipt/wallet-receipts.ts';
import type { BookContext } from '../context.ts';

export type AskingWallet = Pick<BookContext, 'base_urls' | 'free_wallets' | 'walletOfAgent' | 'principal' | 'clock'>;

/** Members of a request that contain the signature of the agentWallet. */
export interface WalletAnswer {
  readonly wallet_signature: string;
  /** Unix seconds. */
  readonly signature_timestamp: number;
}

/**
 * Checks that the agentWallet signed the text recently. A client that only holds a session cannot do that. Checks that need no call
 * to the chain come first. @throws rate_limited, not_found if there is no such agent
 */
export async function verifyAgentWallet(
  agent_id: AgentId,
  { wallet_signature: signature, signature_timestamp: signed_at }: WalletAnswer,
  text: (base_url: string, at_seconds: number) => string,
  { base_urls, free_wallets, walletOfAgent, principal, clock }: AskingWallet,
): Promise<WalletProofVerdict> {
  const wallet = await walletOfAgent(agent_id);
  if (wallet === null) throw new Refusal('not_found');
  const signed = (base_url: string, _: string, at_seconds: number) => text(base_url, at_seconds);
  const believing = {
    wallets: free_wallets,
    base_urls,
    text: signed,
    now_ms: clock.now_ms(),
    asker: principal.address,
  };
  return believeWallet({ wallet, signature, signed_at }, believing);
}

const wrong: Partial<Record<WalletProofVerdict['kind'], keyof WalletAnswer>> = {
  stale: 'signature_timestamp',
  invalid: 'wallet_signature',
};

/** Throws unless the signature was verified. @throws control_proof_invalid, chain_unavailable, unavailable */
export function requireBelieved({ kind }: WalletProofVerdict): void {
  if (kind === 'proven') return;
  const param = wrong[kind];
  throw new Refusal(walletFaults[kind].code, param ? { param } : {});
}
