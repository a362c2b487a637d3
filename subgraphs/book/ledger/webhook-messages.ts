import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { kindsTold, type Telling, type WebhookKind } from '../../../schema/webhook/kinds.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { addJobs, type Job } from '../../jobs.ts';

/* Part of the ledger: of what a book's webhook is told, decided under the head's lock, in the transaction of the event. */

interface Wanting {
  readonly webhook_kinds: readonly WebhookKind[] | null;
  readonly webhook_messages: number;
}

/**
 * Messages are numbered without gaps as long as there is a book, and an event's are part of its body, which its hash
 * covers: whoever was sent number 4 and number 6 knows that 5 is missing, and that no other event was to be sent between.
 */
export function withMessageNumbers(
  head: Wanting,
  event: Telling,
): { readonly webhook_messages: number; readonly body: JsonObject } {
  const kinds = head.webhook_kinds === null ? [] : kindsTold(event, head.webhook_kinds);
  const { webhook_messages } = head;
  if (kinds.length === 0) return { webhook_messages, body: event.body };
  const messages = Object.fromEntries(kinds.map((kind, index) => [kind, webhook_messages + index + 1]));
  return { webhook_messages: webhook_messages + kinds.length, body: { ...event.body, messages } };
}

/** What a webhook is told of from the next event on; null: of nothing. The head is locked before. */
export function setWebhookKinds(tx: Tx, agent_id: AgentId, kinds: readonly WebhookKind[] | null): void {
  tx.write({
    name: 'set webhook kinds',
    text: 'update book set webhook_kinds = $2 where agent_id = $1',
    values: [agent_id, kinds && JSON.stringify(kinds)],
  });
}

/**
 * In the transaction of the events, and after them: whatever dies, what is written is sent. One job of each book, however
 * much it has to tell, since the book itself says what: the next message may wait for it already.
 */
export function sendMessages(tx: Tx, books: ReadonlyMap<AgentId, Clocked>, events: readonly Told[]): void {
  const telling = new Set(events.flatMap(({ agent_id, body }) => (body.messages === undefined ? [] : [agent_id])));
  addJobs(
    tx,
    [...telling].map(agent_id => bookJob(agent_id, books.get(agent_id as AgentId)?.now_ms)),
  );
}

interface Clocked {
  readonly now_ms: number;
}

interface Told {
  readonly agent_id: number;
  readonly body: JsonObject;
}

/** One after the other for each book, so that what it tells goes out in order. At once where no time is given. */
export function bookJob(agent_id: number, at_ms?: number): Job {
  const queue = `webhook ${agent_id}`;
  const run_at = at_ms === undefined ? {} : { run_at: iso(at_ms) };
  return { task: 'webhook/book', payload: { agent_id }, queue, key: queue, ...run_at };
}
