import { type AgentId, agentId } from '../../../schema/ids.ts';
import { webhookLimits } from '../../../schema/limits.ts';
import { type MessageJob, type MessageName, messageId } from '../../../schema/webhook/message.ts';
import { afterFailedAttempt, afterPostponement, type RetryDecision, restMs } from '../../../schema/webhook/retry.ts';
import { iso } from '../../clock.ts';
import type { Database, Tx } from '../../database.ts';
import { addJobs } from '../../jobs.ts';
import { lockBooks } from '../ledger/append.ts';
import { setWebhookKinds } from '../ledger/webhook-messages.ts';
import type { FoundWebhook } from './found-message.ts';

/* Records delivery attempts. If the webhook was changed during an attempt, its counters are not updated. */

type Store = Pick<Database, 'query' | 'transaction'>;

export interface DeliveryFault {
  /** Status of the response. Null if there was none. */
  readonly status: number | null;
  readonly error: string;
  readonly retry_after_ms: number | null;
}

/** Position of the event, and number of the message, up to which a book has sent its messages. Null for a message that is sent again. */
export type SendProgress = { readonly position: number; readonly messages: number } | null;

const SAME = `agent_id = $1 and box is not null and floor(extract(epoch from changed_at) * 1000)::int8 = $2`;
const TOLD = (position: number) =>
  `told_position = greatest(told_position, $${position}), told_messages = greatest(told_messages, $${position + 1})`;

/** Records an accepted message. @param prompt whether the receiver was fast enough not to delay other receivers */
export async function recordDelivery(
  database: Store,
  agent_id: number,
  { changed_ms }: FoundWebhook,
  { status, prompt, told }: { readonly status: number; readonly prompt: boolean; readonly told: SendProgress },
): Promise<void> {
  await database.query({
    name: 'webhook delivered',
    text: `update webhook set deliveries = deliveries + 1, last_status = $3, last_error = null, failures_in_row = 0,
      rests_until = null, answered_at = case when $4 then clock_timestamp() end, ${TOLD(5)} where ${SAME}`,
    values: [agent_id, changed_ms, status, prompt, told?.position ?? 0, told?.messages ?? 0],
  });
}

/** Records that no message up to a position is left to be sent. */
export async function recordNothingToSend(
  database: Store,
  agent_id: number,
  webhook: FoundWebhook,
  told: NonNullable<SendProgress>,
) {
  await database.query({
    name: 'nothing to tell',
    text: `update webhook set ${TOLD(3)} where ${SAME}`,
    values: [agent_id, webhook.changed_ms, told.position, told.messages],
  });
}

/** Counts a failed attempt, and either schedules the next attempt or stores a dead letter. Returns which of the two. */
export function recordFailure(
  database: Store,
  job: MessageJob,
  webhook: FoundWebhook,
  { fault, told, random }: { readonly fault: DeliveryFault; readonly told: SendProgress; readonly random: number },
): Promise<RetryDecision['kind']> {
  return database.transaction(async tx => {
    const { status, error, retry_after_ms } = fault;
    countFailure(tx, job.agent_id, webhook, { fault, told });
    const tried = { ...job, attempts: job.attempts + 1 };
    const next = afterFailedAttempt(tried, { now_ms: webhook.now_ms, random, retry_after_ms });
    follow(tx, tried, next, { status, error });
    return next.kind;
  });
}

/** Counts the failure of a test message, which is not sent again. */
export function recordPingFailure(
  database: Store,
  agent_id: number,
  webhook: FoundWebhook,
  fault: DeliveryFault,
): Promise<void> {
  return database.transaction(async tx => countFailure(tx, agent_id, webhook, { fault, told: null }));
}

/** Postpones a message without an attempt. */
export function postpone(
  database: Store,
  job: MessageJob,
  until_ms: number,
  error: string,
): Promise<RetryDecision['kind']> {
  return database.transaction(async tx => {
    const next = afterPostponement(job, until_ms);
    follow(tx, job, next, { status: null, error });
    return next.kind;
  });
}

export function giveUp(database: Store, job: MessageJob, error: string): Promise<void> {
  return database.transaction(async tx => bury(tx, job, job.attempts, { status: null, error }));
}

/** Disables a webhook whose receiver answered 410, until its owner sets it again. `job` is null for a test message. */
export function recordGone(
  database: Store,
  agent: number,
  webhook: FoundWebhook,
  job: MessageJob | null,
): Promise<void> {
  return database.transaction(async tx => {
    const agent_id = agentId(agent);
    await lockBooks(tx, [agent_id]);
    if (await disable(tx, agent_id, webhook)) setWebhookKinds(tx, agent_id, null);
    if (job) bury(tx, job, job.attempts + 1, { status: GONE, error: GONE_ERROR });
  });
}

const GONE = 410;
const GONE_ERROR = 'The receiver responded with HTTP 410 (Gone), so the webhook was disabled.';

/** Disables the webhook. Call it after the head is locked. False if the owner has changed the webhook meanwhile. */
async function disable(tx: Tx, agent_id: AgentId, { changed_ms }: FoundWebhook): Promise<boolean> {
  const { rows } = await tx.query<{ agent_id: number }>({
    name: 'disable webhook',
    text: `update webhook set enabled = false, failures = failures + 1, last_status = ${GONE}, last_error = $3,
        changed_at = clock_timestamp(), changed_by = null where ${SAME} returning agent_id`,
    values: [agent_id, changed_ms, GONE_ERROR],
  });
  return rows.length > 0;
}

function countFailure(
  tx: Tx,
  agent_id: number,
  webhook: FoundWebhook,
  { fault: { status, error }, told }: { readonly fault: DeliveryFault; readonly told: SendProgress },
): void {
  const rest_ms = restMs(webhook.failures_in_row + 1);
  const until = rest_ms === 0 ? null : iso(webhook.now_ms + rest_ms);
  tx.write({
    name: 'webhook failed',
    text: `update webhook set failures = failures + 1, last_status = $3, last_error = $4,
      failures_in_row = failures_in_row + 1, rests_until = greatest(rests_until, $5::timestamptz), ${TOLD(6)}
      where ${SAME}`,
    values: [agent_id, webhook.changed_ms, status, error, until, told?.position ?? 0, told?.messages ?? 0],
  });
}

interface DeadBecause {
  readonly status: number | null;
  readonly error: string;
}

function follow(tx: Tx, job: MessageJob, next: RetryDecision, why: DeadBecause): void {
  if (next.kind === 'dead') bury(tx, job, job.attempts, why);
  else addJobs(tx, [{ task: 'webhook/message', payload: job, run_at: iso(next.at_ms), key: messageId(job) }]);
}

/** Stores a dead letter; only the newest of a book are kept. */
function bury(
  tx: Tx,
  { agent_id, position, kind }: MessageName,
  attempts: number,
  { status, error }: DeadBecause,
): void {
  tx.write({
    name: 'bury message',
    text: `insert into webhook_dead_letter (agent_id, position, kind, attempts, given_up_at, last_status, last_error)
      values ($1, $2, $3, $4, clock_timestamp(), $5, $6)
      on conflict (agent_id, position, kind) do update set attempts = excluded.attempts,
        given_up_at = excluded.given_up_at, last_status = excluded.last_status, last_error = excluded.last_error`,
    values: [agent_id, position, kind, attempts, status, error],
  });
  tx.write({
    name: 'forget oldest dead letters',
    text: `delete from webhook_dead_letter d using (select position, kind from webhook_dead_letter where agent_id = $1
        order by position desc, kind desc offset ${webhookLimits.dead_letters_max}) old
      where d.agent_id = $1 and d.position = old.position and d.kind = old.kind`,
    values: [agent_id],
  });
}

const FORGOTTEN_AT_ONCE = 1_000;

/** Deletes old dead letters of all books, in batches, because one statement for all would exceed its time limit. */
export async function forgetOldDeadLetters(database: Pick<Database, 'query'>): Promise<void> {
  const text = `delete from webhook_dead_letter where ctid = any(array(select ctid from webhook_dead_letter
    where given_up_at < now() - make_interval(days => ${webhookLimits.dead_letter_days}) order by given_up_at limit $1)) returning 1`;
  const values = [FORGOTTEN_AT_ONCE];
  while ((await database.query({ name: 'dead letters of age', text, values })).length === FORGOTTEN_AT_ONCE);
}
