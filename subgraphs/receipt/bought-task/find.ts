import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { RawJson } from '../../../schema/json-text.ts';
import { type NetworkName, networks } from '../../../schema/network.ts';
import { operationsOf } from '../../../schema/paid-operations.ts';
import type { ReceiptPayload } from '../../../schema/receipt-shapes.ts';
import type { Database } from '../../database.ts';
import type { Vault } from '../../vault.ts';
import { identifierSlot } from '../claim/identifier.ts';
import { namedCallMark } from '../claim/key-call/idempotency-names.ts';
import { answerLabel, keyAnswerLabel } from '../claim/rerun.ts';
import { receiptsByTask } from '../receipt/find.ts';
import type { Receipt } from '../receipt/receipt.entity.ts';
import type { ProvenBuyer, TaskOwner } from './buyer.ts';
import { wireAnswer } from './kept-answer.ts';

/** Facts about a task beyond its state. */
export interface TaskFacts extends TaskOwner {
  /** Null if the task has no receipt yet. */
  readonly receipt: Receipt | null;
  readonly intent_id: string | null;
  /** Time of the last change of its state. */
  readonly at: Date;
  /** Size of the sealed answer, which is megabytes for an image. 0 if none is kept. */
  readonly answer_bytes: number;
  readonly by_key: boolean;
  /** True if work was sold, false for a stamp. */
  readonly is_work: boolean;
}

interface Row extends TaskOwner {
  readonly landing: JsonObject | null;
  readonly at: Date;
  readonly answer_bytes: number;
  readonly by_key: boolean;
  /** Paid field. Null for a call by key, whose answer is kept only if it is work, and for a refusal. */
  readonly field: string | null;
}

/** Facts about a task. Null if no payment, call by key, receipt or refusal has this id. */
export async function taskFacts(database: Database, task_id: string): Promise<TaskFacts | null> {
  const [rows, [receipt = null]] = await Promise.all([
    underWay(database, task_id),
    receiptsByTask(database, [task_id]),
  ]);
  const [row] = rows;
  if (!receipt && !row) return null;
  const bought = receipt ? boughtBy(receipt) : null;
  return {
    receipt,
    agent_id: receipt?.agentId ?? row?.agent_id ?? null,
    payer: receipt?.payerWallet ?? row?.payer ?? null,
    api_key_hash: bought?.api_key_hash ?? row?.api_key_hash ?? null,
    intent_id: bought?.intent_id ?? text(row?.landing?.intent_id),
    at: receipt?.collectedAt ?? row?.at ?? new Date(0),
    answer_bytes: row?.answer_bytes ?? 0,
    by_key: row?.by_key ?? false,
    is_work: row !== undefined && (row.by_key || operationsOf(row.field ?? '').length > 0),
  };
}

function underWay(database: Database, task_id: string): Promise<Row[]> {
  return database.query<Row & Record<string, unknown>>({
    name: 'task of buyer',
    text: `select 1 as rank, agent_id, payer, landing->>'api_key_hash' as api_key_hash, landing, moved_at as at,
          coalesce(octet_length(answer_box), 0) as answer_bytes, false as by_key, field
        from payment_claim where task_id = $1
      union all select 2, null, null, api_key_hash, null, coalesce(recorded_at, begun_at),
          coalesce(octet_length(answer_box), 0), true, null
        from idempotent_call where task_id = $1
      union all select 3, null, null, canceled_for, null, coalesce(canceled_at, begun_at), 0, true, null
        from key_call where task_id = $1
      union all select 4, agent_id, null, null, null, issued_at, 0, false, null from refusal where task_id = $1
      order by rank limit 1`,
    values: [task_id],
  });
}

/** The facts about a purchase that its receipt signs. */
function boughtBy({ payload }: Receipt): { readonly api_key_hash: string | null; readonly intent_id: string | null } {
  const { caller_binding, intent_id = null } = JSON.parse(payload) as ReceiptPayload;
  return { api_key_hash: text(caller_binding.api_key_hash), intent_id: text(intent_id) };
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/**
 * Returns the answer that was kept for redelivery, with the member names of the wire. Null if none is kept. It is decrypted only for a
 * caller who may see it.
 */
export async function openAnswer(
  { database, vault }: { readonly database: Database; readonly vault: Pick<Vault, 'open'> },
  task_id: string,
  { by_key }: Pick<TaskFacts, 'by_key'>,
): Promise<JsonObject | RawJson | null> {
  const [kept] = await database.query<{ answer_box: Buffer | null }>({
    name: by_key ? 'answer of call by key' : 'answer of task',
    text: `select answer_box from ${by_key ? 'idempotent_call' : 'payment_claim'} where task_id = $1`,
    values: [task_id],
  });
  if (!kept?.answer_box) return null;
  const label = by_key ? keyAnswerLabel(task_id) : answerLabel(task_id);
  const opened = JSON.parse(vault.open(kept.answer_box, label).toString('utf8')) as JsonObject;
  return wireAnswer(by_key ? (opened.answer as JsonObject) : opened);
}

/** Whether this is the name of an offer, under which the offered request can be bought once. */
export const isOfferName = (name: string): boolean => /^a2a_[0-9a-f]{40}$/.test(name);

/**
 * Id of the task that was bought under a name of one of two kinds. The payment's own identifier finds the task for anyone who has it. Of an
 * Idempotency-Key only a hash is kept, so it finds the task only for its payer or its live key. Null if there is no such task, or if the
 * purchase failed.
 */
export async function taskUnderName(
  { database, vault }: { readonly database: Database; readonly vault: Pick<Vault, 'mark'> },
  name: string,
  { wallets, api_key_hash }: ProvenBuyer,
): Promise<string | null> {
  const identifier = vault.mark(name, 'idempotency_key');
  const slots = wallets.flatMap(payer =>
    (Object.keys(networks) as NetworkName[]).map(network =>
      identifierSlot({ network, payer, identifier, by: 'idempotency_key' }),
    ),
  );
  const mark = api_key_hash === null ? null : namedCallMark(vault, api_key_hash, name);
  const [found] = await database.query<{ task_id: string }>({
    name: 'task under name',
    text: `select task_id from (
        select task_id, payer = any($2) as own, moved_at as at from payment_claim where identifier = $1 and state <> 'released'
        union all select task_id, true, moved_at from payment_claim
          where claim_key in (select claim_key from claim_slot where slot = any($3)) and state <> 'released'
        union all select task_id, true, coalesce(recorded_at, begun_at) from idempotent_call where mark = $4) named
      order by own desc, at desc limit 1`,
    values: [name, wallets, slots, mark],
  });
  return found?.task_id ?? null;
}

/**
 * Names of the offers under which these tasks were bought, by task id. The name is the context of a task without an intent. It is read from
 * the payment's own identifier. For a task that was bought under an Idempotency-Key there is no name, because only a hash of the key is
 * kept.
 */
export async function offerNames(
  { database }: { readonly database: Database },
  task_ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (task_ids.length === 0) return new Map();
  const named = await database.query<{ task_id: string; identifier: string }>({
    name: 'names of tasks',
    text: 'select task_id, identifier from payment_claim where task_id = any($1) and identifier is not null',
    values: [task_ids],
  });
  return new Map(named.flatMap(({ task_id, identifier }) => (isOfferName(identifier) ? [[task_id, identifier]] : [])));
}

/**
 * Maximum number of tasks that are read for one name. There may be several, because a canceled purchase can be repeated under the same
 * name.
 */
const TRIED_MAX = 100;

/**
 * The task that the buyer bought with an offer (`bought`), and all tasks that were begun under the name of the offer, whatever their
 * outcome.
 */
export async function tasksOfOffer(
  context: Parameters<typeof taskUnderName>[0],
  name: string,
  buyer: ProvenBuyer,
): Promise<{ readonly bought: string | null; readonly all: readonly string[] }> {
  const [bought, named] = await Promise.all([
    taskUnderName(context, name, buyer),
    context.database.query<{ task_id: string }>({
      name: 'tasks named',
      text: 'select task_id from payment_claim where identifier = $1 order by moved_at desc limit $2',
      values: [name, TRIED_MAX],
    }),
  ]);
  return { bought, all: [...(bought === null ? [] : [bought]), ...named.map(({ task_id }) => task_id)] };
}
