import { canonicalHash, type JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { HeldBook, ProvenBy } from '../../../schema/principal.ts';
import type { WebhookKind } from '../../../schema/webhook/kinds.ts';
import { iso } from '../../clock.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Tx } from '../../database.ts';
import { addJobs } from '../../jobs.ts';
import type { BookContext } from '../context.ts';
import { type Head, lockBooks } from '../ledger/append.ts';
import { changeAuthor } from '../ledger/terms.ts';
import { bookJob, setWebhookKinds } from '../ledger/webhook-messages.ts';
import { useRoom } from './room.ts';
import { openWebhook, sealWebhook, type WebhookSecrets } from './secrets.ts';
import { Webhook } from './webhook.entity.ts';

/** Settings of a webhook. */
export interface WebhookTerms {
  readonly secrets: WebhookSecrets;
  readonly events: readonly WebhookKind[];
  readonly enabled: boolean;
}

/** A webhook with the state of its deliveries. */
export interface StandingWebhook extends WebhookTerms {
  readonly webhook: Webhook;
}

type Keeper = Pick<BookContext, 'database' | 'vault'>;
type Change = (standing: StandingWebhook | null, now_ms: number) => WebhookTerms | null;

/**
 * Changes a webhook, and the kinds of events on the head, under the lock of the head, so that the change applies to every later event.
 * A `change` that returns null removes the webhook. An unchanged setting writes nothing. @throws book_damaged, rate_limited, forbidden
 * if there is no such book
 */
export function changeWebhook(
  { database, vault }: Keeper,
  held: HeldBook & ProvenBy,
  change: Change,
): Promise<StandingWebhook | null> {
  const { agent_id } = held;
  return database.transaction(async tx => {
    const head = (await lockBooks(tx, [agent_id])).get(agent_id);
    if (!head) throw new Refusal('forbidden');
    if (head.damaged) throw new Refusal('book_damaged');
    const kept = await lockWebhook(tx, agent_id);
    const standing = kept && standingWebhook({ vault }, kept);
    const terms = change(standing, head.now_ms);
    if (termsHash(terms) === termsHash(standing)) return standing;
    const room = kept?.room ?? {};
    const used = terms === null ? room : useRoom(room, 'changes', head.now_ms);
    setWebhookKinds(tx, agent_id, terms?.enabled ? terms.events : null);
    if (terms === null) forgetDeadLetters(tx, agent_id);
    // Events that are recorded while the webhook is disabled are sent only by a redelivery.
    const begins = terms?.enabled === true && standing?.enabled !== true;
    const written = { agent_id, used, terms, head, begins, box: terms && sealWebhook(vault, agent_id, terms.secrets) };
    const afresh = terms === null || terms.secrets.url !== standing?.secrets.url || terms.enabled !== standing.enabled;
    const by = { changed_at: iso(head.now_ms), changed_by: changeAuthor(held) };
    // Messages that were postponed because the receiver had failed are sent now.
    if (terms?.enabled && afresh) addJobs(tx, [bookJob(agent_id, head.now_ms)]);
    const webhook = await store(tx, {
      ...written,
      ...by,
      afresh,
      counts: terms !== null && standing !== null,
    });
    return terms && { ...terms, webhook };
  });
}

/** The webhook of a book, read without a lock. Null if there is none. */
export async function readWebhook({ database, vault }: Keeper, agent_id: AgentId): Promise<StandingWebhook | null> {
  const text = `select ${selectList(Webhook)} from webhook where agent_id = $1`;
  const [row] = await database.query({ name: 'webhook', text, values: [agent_id] });
  return row ? standingWebhook({ vault }, asEntity(Webhook, row)) : null;
}

/** Locks the row of a webhook, also of a removed one. Lock the head before it, if both are locked. Null if there never was a webhook. */
export async function lockWebhook(tx: Tx, agent_id: AgentId): Promise<Webhook | null> {
  const text = `select ${selectList(Webhook)} from webhook where agent_id = $1 for update`;
  const { rows } = await tx.query<Record<string, unknown>>({ name: 'lock webhook', text, values: [agent_id] });
  return rows[0] ? asEntity(Webhook, rows[0]) : null;
}

export function standingWebhook({ vault }: Pick<Keeper, 'vault'>, webhook: Webhook): StandingWebhook | null {
  const { agentId, box, events, enabled } = webhook;
  return box && { webhook, events, enabled, secrets: openWebhook(vault, agentId, box) };
}

function termsHash(terms: WebhookTerms | null): string | null {
  if (terms === null) return null;
  const { secrets, events, enabled } = terms;
  return canonicalHash({ secrets, events, enabled } as unknown as JsonObject);
}

export function forgetDeadLetters(tx: Tx, agent_id: AgentId): void {
  tx.write({
    name: 'forget dead letters',
    text: 'delete from webhook_dead_letter where agent_id = $1',
    values: [agent_id],
  });
}

interface WebhookWrite {
  readonly agent_id: AgentId;
  readonly used: Webhook['room'];
  readonly terms: WebhookTerms | null;
  readonly head: Pick<Head, 'position' | 'webhook_messages'>;
  /** True if the webhook starts to receive events with this change. */
  readonly begins: boolean;
  readonly box: Buffer | null;
  readonly changed_at: string;
  readonly changed_by: JsonObject | null;
  /** True if the stored state of the receiver (failures in a row, time of rest) no longer applies. */
  readonly afresh: boolean;
  /** True if the counters of deliveries are kept. */
  readonly counts: boolean;
}

async function store(tx: Tx, written: WebhookWrite): Promise<Webhook> {
  const { agent_id, used, terms, head, begins, box, changed_at, changed_by, afresh, counts } = written;
  const kept = (column: string, condition: string, otherwise: string) =>
    `${column} = case when ${condition} then webhook.${column} else ${otherwise} end`;
  const text = `insert into webhook (agent_id, box, events, enabled, room, created_at, changed_at, changed_by,
      told_position, told_messages)
    values ($1, $2, $3, $4, $5, $6, $6, $7, $11, $12)
    on conflict (agent_id) do update set box = excluded.box, events = excluded.events, enabled = excluded.enabled,
      room = excluded.room, changed_at = excluded.changed_at, changed_by = excluded.changed_by,
      ${kept('told_position', 'not $10', 'excluded.told_position')},
      ${kept('told_messages', 'not $10', 'excluded.told_messages')},
      ${kept('created_at', '$9', 'excluded.created_at')},
      ${kept('deliveries', '$9', '0')}, ${kept('failures', '$9', '0')}, ${kept('last_status', '$9', 'null')},
      ${kept('last_error', '$9', 'null')}, ${kept('failures_in_row', 'not $8', '0')},
      ${kept('rests_until', 'not $8', 'null')}, ${kept('answered_at', 'not $8', 'null')}
    returning ${selectList(Webhook)}`;
  const { events = [], enabled = false } = terms ?? {};
  const values: unknown[] = [
    agent_id,
    box,
    JSON.stringify(events),
    enabled,
    used,
    changed_at,
    changed_by,
    afresh,
    counts,
  ];
  values.push(begins, head.position, head.webhook_messages);
  const { rows } = await tx.query<Record<string, unknown>>({ name: 'store webhook', text, values });
  if (!rows[0]) throw new Error('a webhook was not stored');
  return asEntity(Webhook, rows[0]);
}
