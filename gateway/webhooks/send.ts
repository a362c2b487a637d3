import { createHmac } from 'node:crypto';
import { canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { agentId } from '../../schema/ids.ts';
import { webhookLimits } from '../../schema/limits.ts';
import { standardKey } from '../../schema/webhook/secret.ts';
import type { FoundWebhook } from '../../subgraphs/book/webhook/found-message.ts';
import { openWebhook, secretsAt } from '../../subgraphs/book/webhook/secrets.ts';
import type { Clock, Random } from '../../subgraphs/clock.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import { type AttemptOutcome, attempt, faults, type ReachRules } from './attempt.ts';
import type { LaneName, Lanes } from './lanes.ts';

export interface SendingParts extends ReachRules {
  readonly vault: Pick<Vault, 'open'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly lanes: Lanes;
}

/** Content of a message: its id, the agent, and the other members of the envelope. */
export type WebhookMessage = JsonObject & { readonly id: string; readonly agent_id: number };

export type SendOutcome =
  | { readonly kind: 'tried'; readonly outcome: AttemptOutcome; readonly prompt: boolean }
  /** All places of the receiver's lane are in use. `wait_ms` is the time after which to try again. */
  | { readonly kind: 'full'; readonly wait_ms: number };

class MadeRoom extends Error {
  override name = 'MadeRoom';
}

/**
 * Makes one attempt when a place is free. The message is made only then. If the receiver does not respond at once, the attempt
 * moves to the slow lane, or ends if that lane is full. @throws if `stopping` is aborted
 */
export async function send(
  parts: SendingParts,
  webhook: FoundWebhook,
  messageOf: () => WebhookMessage | Promise<WebhookMessage>,
  stopping: AbortSignal,
): Promise<SendOutcome> {
  const taken = await parts.lanes.take(laneOf(webhook), parts.clock.now_ms());
  if (taken.kind === 'full') return taken;
  const { place } = taken;
  const ending = new AbortController();
  let prompt = true;
  let late: NodeJS.Timeout | undefined;
  try {
    const message = await messageOf();
    late = setTimeout(() => {
      prompt = false;
      if (!place.moveAside()) ending.abort(new MadeRoom());
    }, webhookLimits.prompt_ms_max);
    const signal = AbortSignal.any([stopping, ending.signal]);
    const outcome = await attempt({ ...requestOf(parts, webhook, message), signal }, parts);
    return { kind: 'tried', outcome, prompt };
  } catch (error) {
    if (!(error instanceof MadeRoom)) throw error;
    const outcome = { kind: 'failed', status: null, error: faults.made_room, retry_after_ms: null } as const;
    return { kind: 'tried', outcome, prompt };
  } finally {
    clearTimeout(late);
    place.leave();
  }
}

function laneOf({ prompt, failures_in_row }: FoundWebhook): LaneName {
  if (prompt) return 'prompt';
  return failures_in_row === 0 ? 'untried' : 'slow';
}

/**
 * The request of a message. It is signed with the database's time, because receivers reject messages of a process whose clock is
 * wrong.
 */
function requestOf({ vault }: SendingParts, { box, now_ms }: FoundWebhook, message: WebhookMessage) {
  const secrets = openWebhook(vault, agentId(message.agent_id), box);
  const body = canonicalJson(message);
  const signed = signatureHeaders(message.id, now_ms, body, secretsAt(secrets, now_ms));
  const headers = { 'content-type': 'application/json', 'user-agent': 'svc-webhook/1', ...signed };
  return { url: secrets.url, headers, body };
}

/**
 * Signature headers: those of Standard Webhooks 1.0.0, with one signature for each active secret, and X-SVC-Signature over the body
 * alone, keyed by the secret as it was shown.
 */
function signatureHeaders(
  id: string,
  at_ms: number,
  body: string,
  [secret, ...old]: readonly string[],
): Readonly<Record<string, string>> {
  if (secret === undefined) throw new Error('a webhook without a secret');
  const seconds = Math.floor(at_ms / 1_000);
  const standard = (key: string) =>
    `v1,${createHmac('sha256', standardKey(key)).update(`${id}.${seconds}.${body}`).digest('base64')}`;
  const plain = (key: string) => `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': [secret, ...old].map(standard).join(' '),
    'x-svc-signature': plain(secret),
    ...(old[0] === undefined ? {} : { 'x-svc-signature-previous': old.map(plain).join(',') }),
  };
}
