import type { AgentId } from '../../../schema/ids.ts';
import { webhookLimits } from '../../../schema/limits.ts';
import type { Vault } from '../../vault.ts';

/** Secret members of a webhook. The URL is secret too, because a client that has it can send messages to the receiver. */
export interface WebhookSecrets {
  readonly url: string;
  readonly secret: string;
  /** Earlier secrets with which messages are still signed, newest first. */
  readonly old: readonly { readonly secret: string; readonly until_ms: number }[];
}

const labelOf = (agent_id: AgentId) => `webhook ${agent_id}`;

export function sealWebhook(vault: Pick<Vault, 'seal'>, agent_id: AgentId, secrets: WebhookSecrets): Buffer {
  return vault.seal(JSON.stringify(secrets), labelOf(agent_id));
}

export function openWebhook(vault: Pick<Vault, 'open'>, agent_id: AgentId, box: Uint8Array): WebhookSecrets {
  return JSON.parse(vault.open(box, labelOf(agent_id)).toString()) as WebhookSecrets;
}

/** Secrets with which a message is signed at a time, the current one first. */
export function secretsAt({ secret, old }: WebhookSecrets, now_ms: number): readonly string[] {
  return [secret, ...old.filter(({ until_ms }) => until_ms > now_ms).map(it => it.secret)];
}

export type RotationOutcome =
  | { readonly kind: 'rotated'; readonly secrets: WebhookSecrets }
  /** The maximum number of earlier secrets is in use, until `until_ms`. */
  | { readonly kind: 'full'; readonly until_ms: number };

/** Replaces the secret. For a day, messages are signed with the former secret too. The same secret changes nothing. */
export function replaceSecret(secrets: WebhookSecrets, secret: string, now_ms: number): RotationOutcome {
  if (secret === secrets.secret) return { kind: 'rotated', secrets };
  const signing = secrets.old.filter(({ until_ms, secret: it }) => until_ms > now_ms && it !== secret);
  const oldest = signing.at(-1);
  if (oldest && signing.length >= webhookLimits.old_secrets_max) return { kind: 'full', until_ms: oldest.until_ms };
  const until_ms = now_ms + webhookLimits.old_secret_ms;
  return { kind: 'rotated', secrets: { ...secrets, secret, old: [{ secret: secrets.secret, until_ms }, ...signing] } };
}
