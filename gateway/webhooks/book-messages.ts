import { webhookLimits } from '../../schema/limits.ts';
import { messagesAfter, type WebhookKind, webhookKindsOf } from '../../schema/webhook/kinds.ts';
import type { BookJob, RedeliveryJob } from '../../schema/webhook/message.ts';
import { bookJob } from '../../subgraphs/book/ledger/webhook-messages.ts';
import {
  type FoundEvent,
  type FoundWebhook,
  findWebhook,
  nextEvent,
  nextTelling,
  webhookStanding,
} from '../../subgraphs/book/webhook/found-message.ts';
import { recordNothingToSend } from '../../subgraphs/book/webhook/record-attempt.ts';
import { redeliveryJob } from '../../subgraphs/book/webhook/redeliver.ts';
import { addJob } from '../../subgraphs/jobs.ts';
import type { JobTask } from '../jobs/task.ts';
import { type DeliveryContext, type DeliveryParts, deliver } from './deliver.ts';

/** Result of one step: there is more to send now, nothing to send, or the next step has to wait until `at_ms`. */
type Step = { readonly kind: 'more' } | { readonly kind: 'done' } | { readonly kind: 'again'; readonly at_ms: number };

const done: Step = { kind: 'done' };
const more: Step = { kind: 'more' };

/**
 * Sends new messages of a book to its webhook, in order and one after another. A message that fails gets a separate job and does
 * not delay later messages. If the receiver is paused, all wait until the pause ends.
 */
export function bookTask(parts: DeliveryParts): JobTask<'webhook/book'> {
  return {
    async run(job, using) {
      const turn = await inTurn(parts, using, () => sendNext(parts, job, using));
      if (turn.kind === 'again') await addJob(using.database, bookJob(job.agent_id, turn.at_ms));
    },
  };
}

/** Sends a range of messages again, even if they were sent before. */
export function redeliveryTask(parts: DeliveryParts): JobTask<'webhook/redelivery'> {
  return {
    async run(job, using) {
      let left = job;
      const turn = await inTurn(parts, using, async () => {
        const { step, from_position } = await redeliverNext(parts, left, using);
        left = { ...left, from_position };
        return step;
      });
      if (turn.kind === 'again') await addJob(using.database, redeliveryJob(left, turn.at_ms));
    },
  };
}

/**
 * Result of a turn: nothing is left to send, or the job has to be repeated at a time (by the database's clock), or at once if no
 * time is given.
 */
type Turn = { readonly kind: 'done' } | { readonly kind: 'again'; readonly at_ms?: number };

/** Repeats `next` until nothing is left to do or other books should get a turn. */
async function inTurn({ clock }: DeliveryParts, { signal }: DeliveryContext, next: () => Promise<Step>): Promise<Turn> {
  const until_ms = clock.now_ms() + webhookLimits.turn_ms_max;
  for (;;) {
    const step = await next();
    if (step.kind === 'done' || step.kind === 'again') return step;
    if (signal.aborted || clock.now_ms() >= until_ms) return { kind: 'again' };
  }
}

async function sendNext(parts: DeliveryParts, { agent_id }: BookJob, using: DeliveryContext): Promise<Step> {
  const { database } = using;
  const stands = webhookStanding(await findWebhook(database, agent_id), null);
  if (stands.kind === 'rests') return { kind: 'again', at_ms: stands.until_ms };
  if (stands.kind !== 'ready') return done;
  const { webhook } = stands;
  const { told_position, told_messages } = webhook;
  const found = await nextEvent(database, agent_id, told_position);
  if (found.kind === 'none') {
    if (found.to === told_position) return done;
    await recordNothingToSend(database, agent_id, webhook, { position: found.to, messages: told_messages });
    return more;
  }
  const { event } = found;
  const numbered = messagesAfter(event.body, told_messages);
  const [next, ...others] = numbered.filter(([kind]) => webhook.events.includes(kind));
  const to = { position: told_position, messages: next?.[1] ?? told_messages };
  // Messages of kinds that the owner no longer wants count as sent.
  const told = others.length === 0 ? { position: event.position, messages: numbered.at(-1)?.[1] ?? told_messages } : to;
  if (next) return sendOne(parts, { webhook, event, kind: next[0], told }, using);
  await recordNothingToSend(database, agent_id, webhook, told);
  return more;
}

async function redeliverNext(parts: DeliveryParts, job: RedeliveryJob, using: DeliveryContext) {
  const { agent_id, from_position, to_position, since_ms } = job;
  const at = (step: Step, position = from_position) => ({ step, from_position: position });
  const stands = webhookStanding(await findWebhook(using.database, agent_id), since_ms);
  if (stands.kind === 'rests') return at({ kind: 'again', at_ms: stands.until_ms });
  if (stands.kind !== 'ready') return at(done);
  const { webhook } = stands;
  const event = await nextTelling(using.database, agent_id, from_position, to_position);
  if (event === null) return at(done);
  for (const kind of webhookKindsOf(event, webhook.events)) {
    const step = await sendOne(parts, { webhook, event, kind, told: null }, using);
    if (step.kind === 'again') return at(step, event.position);
  }
  return at(more, event.position + 1);
}

interface Next {
  readonly webhook: FoundWebhook;
  readonly event: FoundEvent;
  readonly kind: WebhookKind;
  readonly told: { readonly position: number; readonly messages: number } | null;
}

async function sendOne(
  parts: DeliveryParts,
  { webhook, event, kind, told }: Next,
  using: DeliveryContext,
): Promise<Step> {
  const { position } = event;
  const { now_ms } = webhook;
  const { agent_id } = webhook;
  const job = { agent_id, position, kind, attempts: 0, since_ms: now_ms };
  const sent = await deliver(parts, { job, webhook, event, told }, using);
  if (sent.kind === 'full') return { kind: 'again', at_ms: now_ms + sent.wait_ms };
  parts.onOutcome(sent.outcome);
  return more;
}
