import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { type WebhookEvent, type WebhookKind, webhookKindsOf } from '../../../schema/webhook/kinds.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { addJobs, type Job } from '../../jobs.ts';

/* Decides which messages are sent to the webhook of a book, under the head's lock and in the transaction of the event. */

interface WebhookState {
  readonly webhook_kinds: readonly WebhookKind[] | null;
  readonly webhook_messages: number;
}

/**
 * Adds the numbers of the messages to the body of an event. Numbers have no gaps for the life of the book, and the hash of the
 * event covers them. A receiver of 4 and 6 can conclude that 5 is missing, and that nothing else was sent between.
 */
export function withMessageNumbers(
  head: WebhookState,
  event: WebhookEvent,
): { readonly webhook_messages: number; readonly body: JsonObject } {
  const kinds = head.webhook_kinds === null ? [] : webhookKindsOf(event, head.webhook_kinds);
  const { webhook_messages } = head;
  if (kinds.length === 0) return { webhook_messages, body: event.body };
  const messages = Object.fromEntries(kinds.map((kind, index) => [kind, webhook_messages + index + 1]));
  return { webhook_messages: webhook_messages + kinds.length, body: { ...event.body, messages } };
}

/** Sets the kinds for which messages are sent from the next event on. Null sends none. The head must be locked. */
export function setWebhookKinds(tx: Tx, agent_id: AgentId, kinds: readonly WebhookKind[] | null): void {
  tx.write({
    name: 'set webhook kinds',
    text: 'update book set webhook_kinds = $2 where agent_id = $1',
    values: [agent_id, kinds && JSON.stringify(kinds)],
  });
}

/**
 * Adds one job per book that has messages, in the transaction of the events and after them, so that every recorded message is sent.
 * One job is enough, because it reads the messages from the book.
 */
export function sendMessages(
  tx: Tx,
  books: ReadonlyMap<AgentId, DatabaseTime>,
  events: readonly NumberedEvent[],
): void {
  const telling = new Set(events.flatMap(({ agent_id, body }) => (body.messages === undefined ? [] : [agent_id])));
  addJobs(
    tx,
    [...telling].map(agent_id => bookJob(agent_id, books.get(agent_id as AgentId)?.now_ms)),
  );
}

interface DatabaseTime {
  readonly now_ms: number;
}

interface NumberedEvent {
  readonly agent_id: number;
  readonly body: JsonObject;
}

/**
 * Job that sends the messages of a book. Jobs of a book run one after the other, so that first attempts are in order. The job runs
 * immediately if no time is given.
 */
export function bookJob(agent_id: number, at_ms?: number): Job {
  const queue = `webhook ${agent_id}`;
  const run_at = at_ms === undefined ? {} : { run_at: iso(at_ms) };
  return { task: 'webhook/book', payload: { agent_id }, queue, key: queue, ...run_at };
}
