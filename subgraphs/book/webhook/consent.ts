import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { approvalWebhookText } from '../../../schema/session/approval.ts';
import type { WebhookKind } from '../../../schema/webhook/kinds.ts';
import type { WalletBelieved } from '../../receipt/receipt/wallet-receipts.ts';
import { type AskingWallet, requireBelieved, type ShownWord, wordOfWallet } from '../approval/agents-wallet.ts';

/* Where links go that answer approvals is said by the agent's wallet: whoever holds the book's session made the calls. */

/** What decides whether links go out, and where to; whether it is enabled does not: that, the session may change. */
interface Told {
  readonly url: string;
  readonly events: readonly WebhookKind[];
}

/** Ahead of the head's lock, behind which nothing outside is asked: null where the request shows no such word. */
export async function consentOfWallet(
  agent_id: AgentId,
  { url, events }: Told,
  { wallet_signature, signature_timestamp }: Partial<ShownWord>,
  asking: AskingWallet,
): Promise<WalletBelieved | null> {
  if (!events.includes('approval') || wallet_signature === undefined || signature_timestamp === undefined) return null;
  const word = { wallet_signature, signature_timestamp };
  const text = (base_url: string, at_seconds: number) => approvalWebhookText(base_url, { agent_id, url }, at_seconds);
  return wordOfWallet(agent_id, word, text, asking);
}

/**
 * What stands already wants no word again, and so a repeated request needs none that is fresh; nor does whatever tells of
 * approvals no more. @throws control_proof_missing, control_proof_invalid, chain_unavailable, unavailable
 */
export function requireConsent(before: Told | null, { url, events }: Told, consent: WalletBelieved | null): void {
  if (!events.includes('approval') || (before?.url === url && before.events.includes('approval'))) return;
  if (consent === null)
    throw new Refusal('control_proof_missing', {
      param: 'wallet_signature',
      detail:
        'wallet_signature and signature_timestamp are required where approvals are told to another URL than before.',
    });
  requireBelieved(consent);
}
