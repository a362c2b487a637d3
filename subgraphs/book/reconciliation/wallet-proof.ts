import { spelt } from '../../../schema/eip55.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { WalletProvenBy } from '../../../schema/reconciliation.ts';
import type { ReconciliationRequest } from '../../../schema/requests/reconciliation.ts';
import { reconciliationText } from '../../../schema/wallet-receipts.ts';
import { believeWallet, walletFaults } from '../../receipt/receipt/wallet-receipts.ts';
import type { BookContext } from '../context.ts';

type Asking = Pick<BookContext, 'base_urls' | 'free_wallets' | 'walletOfAgent' | 'principal' | 'clock'>;

export interface ProvenWallet {
  /** EIP-55, as the next. */
  readonly wallet: string;
  readonly agent_wallet: string | null;
  readonly proven_by: WalletProvenBy;
}

/**
 * Whoever holds the agent holds its agentWallet; any other wallet signs for this agent.
 * @throws control_proof_missing, control_proof_invalid, rate_limited; chain_unavailable, unavailable where nobody could be asked
 */
export async function requireProvenWallet(
  { wallet: named, signature, signed_at }: ReconciliationRequest,
  agent_id: AgentId,
  { base_urls, free_wallets: wallets, walletOfAgent, principal, clock }: Asking,
): Promise<ProvenWallet> {
  const wallet = spelt(named);
  const agent_wallet = await walletOfAgent(agent_id);
  if (signature === undefined || signed_at === undefined) {
    if (wallet === agent_wallet) return { wallet, agent_wallet, proven_by: 'agent_wallet' };
    throw new Refusal('control_proof_missing', {
      param: signature === undefined ? 'signature' : 'signed_at',
      detail: 'signature and signed_at are required for a wallet that is not agentWallet.',
    });
  }
  const text = (base_url: string, address: string, at_seconds: number) =>
    reconciliationText(base_url, agent_id, address, at_seconds);
  const believing = { wallets, base_urls, text, now_ms: clock.now_ms(), asker: principal.address };
  const believed = await believeWallet({ wallet, signature, signed_at }, believing);
  if (believed.kind === 'proven') return { wallet, agent_wallet, proven_by: 'signature' };
  const { code, ...said } = walletFaults[believed.kind];
  throw new Refusal(code, said);
}
