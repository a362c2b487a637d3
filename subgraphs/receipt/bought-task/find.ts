import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ReceiptPayload } from '../../../schema/receipt-payload.ts';
import type { Database } from '../../database.ts';
import type { Vault } from '../../vault.ts';
import { answerLabel, keyAnswerLabel } from '../claim/rerun.ts';
import { receiptsByTask } from '../receipt/find.ts';
import type { Receipt } from '../receipt/receipt.entity.ts';
import type { Bought } from './buyer.ts';

/** What is known of a task beside where it stands. */
export interface TaskFacts extends Bought {
  /** Null where there is none yet. */
  readonly receipt: Receipt | null;
  readonly intent_id: string | null;
  /** Since when it stands as it does. */
  readonly at: Date;
  /** Sealed; null where none is kept, any more or at all. */
  readonly answer_box: Buffer | null;
  readonly by_key: boolean;
}

interface Row extends Bought {
  readonly landing: JsonObject | null;
  readonly at: Date;
  readonly answer_box: Buffer | null;
  readonly by_key: boolean;
}

/** Null where neither a payment, nor a call by key, nor a receipt, nor a refusal is called so. */
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
    answer_box: row?.answer_box ?? null,
    by_key: row?.by_key ?? false,
  };
}

function underWay(database: Database, task_id: string): Promise<Row[]> {
  return database.query<Row & Record<string, unknown>>({
    name: 'task of buyer',
    text: `select 1 as rank, agent_id, payer, landing->>'api_key_hash' as api_key_hash, landing, moved_at as at, answer_box,
          false as by_key
        from payment_claim where task_id = $1
      union all select 2, null, null, api_key_hash, null, coalesce(recorded_at, begun_at), answer_box, true
        from idempotent_call where task_id = $1
      union all select 3, null, null, canceled_for, null, coalesce(canceled_at, begun_at), null, true
        from key_call where task_id = $1
      union all select 4, agent_id, null, null, null, issued_at, null, false from refusal where task_id = $1
      order by rank limit 1`,
    values: [task_id],
  });
}

/** What a receipt says of it, and signs. */
function boughtBy({ payload }: Receipt): { readonly api_key_hash: string | null; readonly intent_id: string | null } {
  const { caller_binding, intent_id = null } = JSON.parse(payload) as ReceiptPayload;
  return { api_key_hash: text(caller_binding.api_key_hash), intent_id: text(intent_id) };
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** The answer as it was kept for redelivery, in the words of the wire. */
export function openAnswer(vault: Vault, task_id: string, { answer_box, by_key }: TaskFacts): JsonObject | null {
  if (answer_box === null) return null;
  const label = by_key ? keyAnswerLabel(task_id) : answerLabel(task_id);
  const opened = JSON.parse(vault.open(answer_box, label).toString('utf8')) as JsonObject;
  return by_key ? (opened.answer as JsonObject) : opened;
}
