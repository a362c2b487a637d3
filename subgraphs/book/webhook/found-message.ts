import type { BookEventKind } from '../../../schema/book/event.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { type WebhookKind, webhookEventKinds } from '../../../schema/webhook/kinds.ts';
import type { Database } from '../../database.ts';

/* Reads the webhook and the event again for each message, so that changes by the owner apply at once. */

/** A webhook as it is stored now. */
export interface FoundWebhook {
  readonly agent_id: number;
  readonly box: Buffer;
  readonly events: readonly WebhookKind[];
  readonly enabled: boolean;
  readonly told_position: number;
  readonly told_messages: number;
  readonly created_ms: number;
  /** Time (Unix ms) of the last change. It identifies this version of the webhook. */
  readonly changed_ms: number;
  readonly failures_in_row: number;
  /** Time (Unix ms) until which nothing is sent. Null if messages are sent. */
  readonly rests_until_ms: number | null;
  /** True if the receiver accepted the last message promptly. */
  readonly prompt: boolean;
  /** True if the audit has closed the book. */
  readonly damaged: boolean;
  /** Time by the clock of the database. */
  readonly now_ms: number;
}

/** An event of a book. */
export interface FoundEvent {
  readonly position: number;
  readonly kind: BookEventKind;
  readonly seq: number | null;
  readonly task_id: string | null;
  readonly body: JsonObject;
  readonly at: Date;
  readonly prev_hash: string;
  readonly hash: string;
  readonly row_hash: string | null;
}

type Reading = Pick<Database, 'query'>;

const ms = (moment: string) => `floor(extract(epoch from ${moment}) * 1000)::int8`;

/** The webhook of a book. Null if there is none. */
export async function findWebhook(database: Reading, agent_id: number): Promise<FoundWebhook | null> {
  const [found] = await database.query<FoundWebhook & Record<string, unknown>>({
    name: 'webhook to tell',
    text: `select agent_id, box, events, enabled, told_position, told_messages, failures_in_row, ${ms('created_at')} as created_ms,
        ${ms('changed_at')} as changed_ms, ${ms('rests_until')} as rests_until_ms,
        answered_at is not null and failures_in_row = 0 as prompt, b.damage is not null as damaged,
        ${ms('clock_timestamp()')} as now_ms
      from webhook w join book b using (agent_id) where w.agent_id = $1 and box is not null`,
    values: [agent_id],
  });
  return found ?? null;
}

/** Number of events in which one query looks for an event with messages. */
const SPAN = 5_000;
const WITHIN = `agent_id = $1 and position > $2 and position <= $2::int + ${SPAN}`;

const EVENT = `e.position, e.kind, e.seq, e.task_id, e.body, e.at, e.prev_hash, e.hash, r.row_hash`;
const ROW = 'left join book_row r on r.agent_id = e.agent_id and r.seq = e.seq';

export type NextEvent =
  | { readonly kind: 'event'; readonly event: FoundEvent }
  /** No event up to the position `to` has messages. */
  | { readonly kind: 'none'; readonly to: number };

/** The next event with messages after a position, from one snapshot. */
export async function nextEvent(database: Reading, agent_id: number, after: number): Promise<NextEvent> {
  const [found] = await database.query<FoundEvent & { none_to: number | null }>({
    name: 'next event to tell',
    text: `with e as (select * from book_event where ${WITHIN} and body ? 'messages' order by position limit 1)
      select ${EVENT}, case when e.position is null
        then (select coalesce(max(position), $2::int) from book_event where ${WITHIN}) end as none_to
      from (values (1)) one left join e on true ${ROW}`,
    values: [agent_id, after],
  });
  if (found === undefined) return { kind: 'none', to: after };
  const { none_to, ...event } = found;
  return none_to === null ? { kind: 'event', event } : { kind: 'none', to: none_to };
}

/** The first event in a range of positions whose kind can be sent to a webhook, even if it was not sent. Null if there is none. */
export async function nextTelling(
  database: Reading,
  agent_id: number,
  from: number,
  to: number,
): Promise<FoundEvent | null> {
  const [found] = await database.query<FoundEvent & Record<string, unknown>>({
    name: 'next event to redeliver',
    text: `select ${EVENT} from book_event e ${ROW} where e.agent_id = $1 and e.position between $2 and $3
      and e.kind = any($4) order by e.position limit 1`,
    values: [agent_id, from, to, webhookEventKinds],
  });
  return found ?? null;
}

export async function findEvent(database: Reading, agent_id: number, position: number): Promise<FoundEvent | null> {
  return nextTelling(database, agent_id, position, position);
}

/** Whether messages can be sent to a webhook now. */
export type WebhookStanding =
  | { readonly kind: 'ready'; readonly webhook: FoundWebhook }
  /** There is no webhook, or the message was for an earlier one. */
  | { readonly kind: 'none' }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'rests'; readonly until_ms: number };

/** A closed book is checked again after this time. */
const DAMAGED_REST_MS = 600_000;

/** Messages for a webhook that was removed are not sent to a newer webhook of the book. */
export function webhookStanding(webhook: FoundWebhook | null, since_ms: number | null): WebhookStanding {
  if (webhook === null || (since_ms !== null && since_ms < webhook.created_ms)) return { kind: 'none' };
  if (!webhook.enabled) return { kind: 'disabled' };
  const { now_ms, rests_until_ms, damaged } = webhook;
  if (damaged) return { kind: 'rests', until_ms: now_ms + DAMAGED_REST_MS };
  if (rests_until_ms !== null && rests_until_ms > now_ms) return { kind: 'rests', until_ms: rests_until_ms };
  return { kind: 'ready', webhook };
}
