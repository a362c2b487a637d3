import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { webhookLimits } from '../../../schema/limits.ts';
import type { HeldBook, ProvenBy } from '../../../schema/principal.ts';
import type { WebhookRequest } from '../../../schema/requests/webhook.ts';
import { approvalWebhookText } from '../../../schema/session/approval.ts';
import { usualWebhookKinds, type WebhookKind } from '../../../schema/webhook/kinds.ts';
import { webhookSecret } from '../../../schema/webhook/secret.ts';
import { webhookUrl } from '../../../schema/webhook/url.ts';
import type { WalletBelieved } from '../../receipt/receipt/wallet-receipts.ts';
import { type AskingWallet, requireBelieved, type ShownWord, wordOfWallet } from '../approval/agents-wallet.ts';
import type { BookContext } from '../context.ts';
import { changeWebhook, type StandingWebhook } from './change.ts';
import { rotated, type WebhookSecrets } from './sealed.ts';

type Setter = Pick<BookContext, 'database' | 'vault' | 'random' | 'webhook_reach'>;
type Consulting = Setter & AskingWallet & Pick<BookContext, 'base_url'>;
type Held = HeldBook & ProvenBy;

/** As it stands, and its secret where it was made here, which is told this once. */
export interface SetWebhook {
  readonly standing: StandingWebhook;
  readonly secret_once: string | null;
}

const newSecret = ({ random }: Pick<Setter, 'random'>) => webhookSecret(random.bytes(webhookLimits.secret_bytes));

/**
 * Sets where a book tells of its events. What is left out is as usual, but for the secret: one that stands stays. Another
 * one takes its place as by a rotation. @throws invalid_request, book_damaged, rate_limited, and control_proof_missing and
 * what else its consent throws
 */
export async function setWebhook(context: Consulting, held: Held, members: WebhookRequest): Promise<SetWebhook> {
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
  return told(standing, made);
}

/** Another secret, the one before it beside it for a day. @throws not_found where there is no webhook; rate_limited */
export async function rotateSecret(context: Setter, held: Held, secret: string | undefined): Promise<SetWebhook> {
  const made = newSecret(context);
  const standing = await changeWebhook(context, held, (before, now_ms) => {
    if (before === null) throw new Refusal('not_found', { detail: 'The book has no webhook.' });
    return { ...before, secrets: requireRotated(before.secrets, secret ?? made, now_ms) };
  });
  return told(standing, made);
}

/** Nothing is sent any more, whatever was under way; its dead letters are gone. Again it is the same. */
export async function removeWebhook(context: Setter, held: Held): Promise<void> {
  await changeWebhook(context, held, () => null);
}

function requireRotated(secrets: WebhookSecrets, secret: string, now_ms: number): WebhookSecrets {
  const result = rotated(secrets, secret, now_ms);
  if (result.kind === 'rotated') return result.secrets;
  throw new Refusal('rate_limited', {
    detail: `The webhook still signs with ${webhookLimits.old_secrets_max} earlier secrets. Wait until one of them has expired.`,
    facts: { retry_after_seconds: Math.ceil((result.until_ms - now_ms) / 1_000) },
  });
}

function told(standing: StandingWebhook | null, made: string): SetWebhook {
  if (standing === null) throw new Error('a webhook was not set');
  return { standing, secret_once: standing.secrets.secret === made ? made : null };
}

// Where links go that answer approvals is said by the agent's wallet: whoever holds the book's session made the calls.

/** What decides whether links go out, and where to; whether it is enabled does not: that, the session may change. */
interface Told {
  readonly url: string;
  readonly events: readonly WebhookKind[];
}

/** Ahead of the head's lock, behind which nothing outside is asked: null where the request shows no such word. */
async function consentOfWallet(
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
