import { type FieldNode, Kind } from 'graphql';
import { entriesNulls } from '../../rest-compat/book/answers.ts';
import { selectionOf } from '../../rest-compat/field-operation.ts';
import { Row } from '../../schema/book/row.ts';
import type { Json } from '../../schema/canonical-json.ts';
import { agentId } from '../../schema/ids.ts';
import type { MessageJob, MessageName, PingJob } from '../../schema/webhook/message.ts';
import { approvalLink } from '../../subgraphs/book/approval/link.ts';
import { bookJob } from '../../subgraphs/book/ledger/webhook-messages.ts';
import { readRowJson } from '../../subgraphs/book/page/one-row.ts';
import { envelope, pingEnvelope } from '../../subgraphs/book/webhook/envelope.ts';
import {
  type FoundEvent,
  type FoundWebhook,
  findEvent,
  findWebhook,
  webhookStanding,
} from '../../subgraphs/book/webhook/found-message.ts';
import {
  giveUp,
  postpone,
  recordDelivery,
  recordFailure,
  recordGone,
  recordPingFailure,
  type SendProgress,
} from '../../subgraphs/book/webhook/record-attempt.ts';
import type { Random } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import { addJob } from '../../subgraphs/jobs.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { JobTask, TaskContext } from '../jobs/task.ts';
import { faults } from './attempt.ts';
import { type SendingParts, send } from './send.ts';

/* A row of a book in the form of `GET /v1/agents/{agent_id}/book`, by the same selection and the same nulls. */

const fieldNodes: readonly FieldNode[] = [
  { kind: Kind.FIELD, name: { kind: Kind.NAME, value: 'entries' }, ...selectionOf(Row, 'BookRow') },
];

/** The row in its current state; null if the event does not concern a row. */
async function rowAsShown(database: Pick<Database, 'query'>, agent_id: number, seq: number | null): Promise<Json> {
  if (seq === null) return null;
  return readRowJson(database, { agent_id: agentId(agent_id), seq }, { fieldNodes, fragments: {} }, entriesNulls);
}

/** Outcome of a message, passed to `onOutcome`. */
export type DeliveryOutcome = 'delivered' | 'failed' | 'gone' | 'postponed' | 'dropped' | 'given_up';

export interface DeliveryParts extends SendingParts {
  readonly vault: Pick<Vault, 'open' | 'mark'>;
  readonly base_url: string;
  readonly onOutcome: (outcome: DeliveryOutcome) => void;
}

export type DeliveryContext = Pick<TaskContext, 'database' | 'signal'>;

/** A message with its webhook and its event. */
export interface FoundMessage {
  readonly job: MessageJob;
  readonly webhook: FoundWebhook;
  readonly event: FoundEvent;
  readonly told: SendProgress;
}

/** Sends a message again that failed before. */
export function messageTask(parts: DeliveryParts): JobTask<'webhook/message'> {
  return { run: async (job, using) => parts.onOutcome(await deliverAgain(parts, job, using)) };
}

async function deliverAgain(parts: DeliveryParts, job: MessageJob, using: DeliveryContext): Promise<DeliveryOutcome> {
  const { database } = using;
  const stands = webhookStanding(await findWebhook(database, job.agent_id), job.since_ms);
  if (stands.kind === 'disabled') {
    await giveUp(database, job, faults.disabled);
    return 'given_up';
  }
  if (stands.kind === 'rests') return later(parts, job, using, stands.until_ms);
  const event = await findEvent(database, job.agent_id, job.position);
  if (stands.kind === 'none' || event === null || !stands.webhook.events.includes(job.kind)) return 'dropped';
  const { webhook } = stands;
  const sent = await deliver(parts, { job, webhook, event, told: null }, using);
  return sent.kind === 'done' ? sent.outcome : later(parts, job, using, webhook.now_ms + sent.wait_ms);
}

export type DeliveredMessage =
  | { readonly kind: 'done'; readonly outcome: DeliveryOutcome }
  | { readonly kind: 'full'; readonly wait_ms: number };

/** Sends one message, and stores the result and the position up to which the book's messages are sent. */
export async function deliver(
  parts: DeliveryParts,
  { job, webhook, event, told }: FoundMessage,
  { database, signal }: DeliveryContext,
): Promise<DeliveredMessage> {
  const { agent_id } = job;
  const messageOf = async () => {
    const row = await rowAsShown(database, agent_id, event.seq);
    return { ...envelope(nameOf(job), event, row), ...linkTo(parts, webhook, event) };
  };
  const sent = await send(parts, webhook, messageOf, signal);
  if (sent.kind === 'full') return sent;
  const { outcome, prompt } = sent;
  if (outcome.kind === 'delivered') {
    await recordDelivery(database, agent_id, webhook, { status: outcome.status, prompt, told });
    return { kind: 'done', outcome: 'delivered' };
  }
  if (outcome.kind === 'gone') {
    await recordGone(database, agent_id, webhook, job);
    return { kind: 'done', outcome: 'gone' };
  }
  const next = await recordFailure(database, job, webhook, { fault: outcome, told, random: fraction(parts.random) });
  return { kind: 'done', outcome: next === 'dead' ? 'given_up' : 'failed' };
}

/**
 * Link of a call that a person may approve, made when the message is sent and not stored. It is sent only to a webhook that has not
 * changed since before the call requested approval. Otherwise a holder of the session could redirect the webhook and have the link
 * sent again. Both times are taken from the book's head, under its lock.
 */
function linkTo(
  parts: DeliveryParts,
  { changed_ms }: FoundWebhook,
  { kind, body, at }: FoundEvent,
): { readonly approval_link?: string } {
  if (kind !== 'approval' || body.status !== 'open' || changed_ms >= at.getTime()) return {};
  return { approval_link: approvalLink(parts, String(body.approval_id)) };
}

const nameOf = ({ agent_id, position, kind }: MessageJob): MessageName => ({ agent_id, position, kind });

/** Maximum random delay, a tenth of a minute, so that messages that waited together are not retried together. */
const SPREAD_MS = 6_000;

async function later(
  { random }: DeliveryParts,
  job: MessageJob,
  { database }: DeliveryContext,
  until_ms: number,
): Promise<DeliveryOutcome> {
  const at_ms = until_ms + Math.round(fraction(random) * SPREAD_MS);
  return (await postpone(database, job, at_ms, faults.busy)) === 'dead' ? 'given_up' : 'postponed';
}

/** A random number from 0 to below 1. */
function fraction(random: Random): number {
  const [one = 0, two = 0] = random.bytes(2);
  return (one * 256 + two) / 65_536;
}

/** Sends a test message. It makes one attempt, even while the receiver is paused, because the owner wants to know the result. */
export function pingTask(parts: DeliveryParts): JobTask<'webhook/ping'> {
  return { run: async (job, using) => parts.onOutcome(await deliverPing(parts, job, using)) };
}

async function deliverPing(
  parts: DeliveryParts,
  job: PingJob,
  { database, signal }: DeliveryContext,
): Promise<DeliveryOutcome> {
  const { agent_id } = job;
  const webhook = await findWebhook(database, agent_id);
  if (webhook === null || !webhook.enabled) return 'dropped';
  const sent = await send(parts, webhook, () => pingEnvelope(job, webhook.now_ms), signal);
  if (sent.kind === 'full') {
    await recordPingFailure(database, agent_id, webhook, { status: null, error: faults.busy, retry_after_ms: null });
    return 'failed';
  }
  const { outcome, prompt } = sent;
  if (outcome.kind === 'delivered') {
    await recordDelivery(database, agent_id, webhook, { status: outcome.status, prompt, told: null });
    // A successful test ends the receiver's pause, so waiting messages are sent.
    await addJob(database, bookJob(agent_id));
  } else if (outcome.kind === 'gone') await recordGone(database, agent_id, webhook, null);
  else await recordPingFailure(database, agent_id, webhook, outcome);
  return outcome.kind;
}
