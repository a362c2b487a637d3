import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { webhookLimits } from '../../../schema/limits.ts';
import type { HeldBook, ProvenBy } from '../../../schema/principal.ts';
import type { WebhookRequest } from '../../../schema/requests/webhook.ts';
import { approvalWebhookText } from '../../../schema/session/approval.ts';
import { usualWebhookKinds, type WebhookKind } from '../../../schema/webhook/kinds.ts';
import { webhookSecret } from '../../../schema/webhook/secret.ts';
import { webhookUrl } from '../../../schema/webhook/url.ts';
import type { WalletProofVerdict } from '../../receipt/receipt/wallet-receipts.ts';
import { type AskingWallet, requireBelieved, verifyAgentWallet, type WalletAnswer } from '../approval/agents-wallet.ts';
import type { BookContext } from '../context.ts';
import { changeWebhook, type StandingWebhook } from './change.ts';
import { replaceSecret, type WebhookSecrets } from './secrets.ts';

type Setter = Pick<BookContext, 'database' | 'vault' | 'random' | 'webhook_reach'>;
type ConsentContext = Setter & AskingWallet & Pick<BookContext, 'base_url'>;
type ProvenBook = HeldBook & ProvenBy;

/** The webhook, and its secret if this request generated it. A generated secret is shown only in this response. */
export interface SetWebhook {
  readonly standing: StandingWebhook;
  readonly secret_once: string | null;
}

const newSecret = ({ random }: Pick<Setter, 'random'>) => webhookSecret(random.bytes(webhookLimits.secret_bytes));

/**
 * Sets the webhook of a book. A member that is left out gets its default, but an existing secret is kept. A new secret replaces it like
 * a rotation. @throws invalid_request, book_damaged, rate_limited, and the errors of requireConsent
 */
export async function setWebhook(
  context: ConsentContext,
  held: ProvenBook,
  members: WebhookRequest,
): Promise<SetWebhook> {
  const { events = usualWebhookKinds, enabled = true, secret } = members;
  const judged = webhookUrl(members.url, context.webhook_reach);
  if (judged.kind === 'refused')
    throw new Refusal('invalid_request', { param: 'url', detail: `url: ${judged.reason}` });
  const url = judged.url.href;
  const made = newSecret(context);
  const consent = await consentOfWallet(held.agent_id, { url, events }, members, context);
  const standing = await changeWebhook(context, held, (before, now_ms) => {
    requireConsent(before && { url: before.secrets.url, events: before.events }, { url, events }, consent);
    if (before === null) return { secrets: { url, secret: secret ?? made, old: [] }, events, enabled };
    const secrets = secret === undefined ? before.secrets : requireRotated(before.secrets, secret, now_ms);
    return { secrets: { ...secrets, url }, events, enabled };
  });
  return resultOf(standing, made);
}

/** Replaces the secret. For a day, messages are signed with the former secret too. @throws not_found if there is no webhook, rate_limited */
export async function rotateSecret(context: Setter, held: ProvenBook, secret: string | undefined): Promise<SetWebhook> {
  const made = newSecret(context);
  const standing = await changeWebhook(context, held, (before, now_ms) => {
    if (before === null) throw new Refusal('not_found', { detail: 'The book has no webhook.' });
    return { ...before, secrets: requireRotated(before.secrets, secret ?? made, now_ms) };
  });
  return resultOf(standing, made);
}

/** Removes the webhook and its dead letters. Nothing more is sent. Repeating it changes nothing. */
export async function removeWebhook(context: Setter, held: ProvenBook): Promise<void> {
  await changeWebhook(context, held, () => null);
}

function requireRotated(secrets: WebhookSecrets, secret: string, now_ms: number): WebhookSecrets {
  const result = replaceSecret(secrets, secret, now_ms);
  if (result.kind === 'rotated') return result.secrets;
  throw new Refusal('rate_limited', {
    detail: `The webhook still signs with ${webhookLimits.old_secrets_max} earlier secrets. Wait until one of them has expired.`,
    facts: { retry_after_seconds: Math.ceil((result.until_ms - now_ms) / 1_000) },
  });
}

function resultOf(standing: StandingWebhook | null, made: string): SetWebhook {
  if (standing === null) throw new Error('a webhook was not set');
  return { standing, secret_once: standing.secrets.secret === made ? made : null };
}

// The agentWallet decides to which URL approval links are sent. The session cannot decide it, because its holder made the calls.

/** Members that decide whether approval links are sent, and to which URL. The session alone may change `enabled`. */
interface ApprovalTarget {
  readonly url: string;
  readonly events: readonly WebhookKind[];
}

/** Verifies the signature before the head is locked, because no external call is made under that lock. Null if there is none to verify. */
async function consentOfWallet(
  agent_id: AgentId,
  { url, events }: ApprovalTarget,
  { wallet_signature, signature_timestamp }: Partial<WalletAnswer>,
  asking: AskingWallet,
): Promise<WalletProofVerdict | null> {
  if (!events.includes('approval') || wallet_signature === undefined || signature_timestamp === undefined) return null;
  const word = { wallet_signature, signature_timestamp };
  const text = (base_url: string, at_seconds: number) => approvalWebhookText(base_url, { agent_id, url }, at_seconds);
  return verifyAgentWallet(agent_id, word, text, asking);
}

/**
 * Requires the consent of the agentWallet if approvals are to be sent to a URL. An existing setting needs no new signature, so that a
 * repeated request passes. Turning approvals off needs none either. @throws control_proof_missing, control_proof_invalid,
 * chain_unavailable, unavailable
 */
export function requireConsent(
  before: ApprovalTarget | null,
  { url, events }: ApprovalTarget,
  consent: WalletProofVerdict | null,
): void {
  if (!events.includes('approval') || (before?.url === url && before.events.includes('approval'))) return;
  if (consent === null)
    throw new Refusal('control_proof_missing', {
      param: 'wallet_signature',
      detail:
        'wallet_signature and signature_timestamp are required to send approvals to a URL, unless the webhook has this URL with `approval` already.',
    });
  requireBelieved(consent);
}
