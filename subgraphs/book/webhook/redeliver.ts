import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { webhookLimits } from '../../../schema/limits.ts';
import type { HeldBook } from '../../../schema/principal.ts';
import type { RedeliveryRequest } from '../../../schema/requests/webhook.ts';
import { type WebhookEvent, webhookEventKinds, webhookKindsOf } from '../../../schema/webhook/kinds.ts';
import type { RedeliveryJob } from '../../../schema/webhook/message.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { addJobs, type Job } from '../../jobs.ts';
import type { BookContext } from '../context.ts';
import { readBooks } from '../ledger/append.ts';
import { lockWebhook, standingWebhook } from './change.ts';
import { useRoom } from './room.ts';
import { Webhook } from './webhook.entity.ts';

type Sender = Pick<BookContext, 'database' | 'vault' | 'random'>;

const { redelivered_positions_max, redelivered_messages_max } = webhookLimits;

/**
 * Sends the messages of a range of positions again, in order and with current rows, and deletes the dead letters of the range. Returns
 * the number of messages. @throws invalid_request, not_found, rate_limited
 */
export function redeliverMessages(
  context: Sender,
  { agent_id }: HeldBook,
  { from_position, to_position }: RedeliveryRequest,
): Promise<number> {
  if (to_position < from_position || to_position - from_position >= redelivered_positions_max)
    throw tooWide(`must be from from_position to from_position + ${redelivered_positions_max - 1}.`);
  return usingRoom(context, agent_id, 'redeliveries', async (tx, { events }, now_ms) => {
    const found = await eventsBetween(tx, agent_id, from_position, to_position);
    const messages = found.flatMap(event => webhookKindsOf(event, events)).length;
    if (messages > redelivered_messages_max)
      throw tooWide(`the range has more than ${redelivered_messages_max} messages. Send a smaller range.`);
    forgetRange(tx, agent_id, { from_position, to_position, events });
    const redelivery = { agent_id, id: newId(context), from_position, to_position, since_ms: now_ms };
    if (messages > 0) addJobs(tx, [redeliveryJob(redelivery, now_ms)]);
    return messages;
  });
}

/**
 * Job of a redelivery. The redeliveries of one book run one after the other. @param at_ms time of the first run; immediately if it is
 * not given
 */
export function redeliveryJob(payload: RedeliveryJob, at_ms?: number): Job {
  const { agent_id, id } = payload;
  const queue = `webhook again ${agent_id}`;
  const run_at = at_ms === undefined ? {} : { run_at: iso(at_ms) };
  return { task: 'webhook/redelivery', payload, queue, key: `${queue} ${id}`, ...run_at };
}

const tooWide = (detail: string) =>
  new Refusal('invalid_request', { param: 'to_position', detail: `to_position: ${detail}` });

const ID_BYTES = 12;
const newId = ({ random }: Pick<Sender, 'random'>) => Buffer.from(random.bytes(ID_BYTES)).toString('hex');

/** Queues a test message, which is sent once. Returns its id. @throws not_found, rate_limited */
export function ping(context: Sender, { agent_id }: HeldBook): Promise<string> {
  const id = `msg_${agent_id}_ping_${newId(context)}`;
  return usingRoom(context, agent_id, 'pings', async (tx, _, now_ms) => {
    addJobs(tx, [{ task: 'webhook/ping', payload: { agent_id, id }, run_at: iso(now_ms), key: id }]);
    return id;
  });
}

/** Runs `work` on an enabled webhook after counting a use of a limit. It locks no head, so that it does not delay paid calls. */
function usingRoom<T>(
  { database, vault }: Sender,
  agent_id: AgentId,
  name: 'pings' | 'redeliveries',
  work: (tx: Tx, webhook: Webhook, now_ms: number) => Promise<T>,
): Promise<T> {
  return database.transaction(async tx => {
    const head = (await readBooks(tx, [agent_id])).get(agent_id);
    if (head?.damaged) throw new Refusal('book_damaged');
    const webhook = head ? await lockWebhook(tx, agent_id) : null;
    if (!head || !webhook || !standingWebhook({ vault }, webhook)?.enabled)
      throw new Refusal('not_found', { detail: 'The book has no enabled webhook.' });
    const room = useRoom(webhook.room, name, head.now_ms);
    tx.write({
      name: 'use webhook room',
      text: 'update webhook set room = $2 where agent_id = $1',
      values: [agent_id, room],
    });
    return work(tx, webhook, head.now_ms);
  });
}

async function eventsBetween(tx: Tx, agent_id: AgentId, from: number, to: number): Promise<readonly WebhookEvent[]> {
  const { rows } = await tx.query<WebhookEvent>({
    name: 'events to redeliver',
    text: `select kind, jsonb_build_object('evidence', body->'evidence', 'collected', body->'collected') as body
      from book_event where agent_id = $1 and position between $2 and $3 and kind = any($4)`,
    values: [agent_id, from, to, webhookEventKinds],
  });
  return rows;
}

/** Deletes the dead letters of a range, except those of kinds to which the webhook no longer subscribes. */
function forgetRange(
  tx: Tx,
  agent_id: AgentId,
  { from_position, to_position, events }: RedeliveryRequest & Pick<Webhook, 'events'>,
): void {
  tx.write({
    name: 'dead letters redelivered',
    text: `delete from webhook_dead_letter where agent_id = $1 and position between $2 and $3
      and kind = any($4::text[])`,
    values: [agent_id, from_position, to_position, events],
  });
}
