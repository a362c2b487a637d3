import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { type DisputeSide, disputeSides, factOfReceipt, partsOf } from '../../../schema/dispute/facts.ts';
import type { ReadFact } from '../../../schema/dispute/rule.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';
import { receiptDocument } from '../../receipt/receipt/document.ts';
import { readReceipts } from '../../receipt/receipt/find.ts';

/* What the book and its receipts say of the rows of a dispute, read under the head's lock. */

export interface DisputedRow {
  readonly seq: number;
  readonly task_id: string;
  readonly row_hash: string;
  readonly evidence: Evidence;
  /** Atomic units, digits; null where none is known. */
  readonly amount: string | null;
  readonly settlement_vanished: boolean;
  readonly answered_on_resend: boolean;
}

/** A row of a dispute; null where the book has none of that task, or none is named. */
export interface KnownSide {
  readonly row: DisputedRow | null;
  /** As much of the public receipt as proves it offline. */
  readonly receipt: JsonObject | null;
}

export type KnownSides = Readonly<Record<DisputeSide, KnownSide>>;

/** A transaction, and the mapping of its database. */
type Reads = Pick<Database, 'query'>;

interface Asked {
  readonly agent_id: AgentId;
  /** By side; null: the evidence names no other row. */
  readonly tasks: Readonly<Record<DisputeSide, string | null>>;
  readonly base_url: string;
  readonly profile: 'development' | 'production';
}

/** @throws record_damaged where a receipt does not stand as it was signed */
export async function knownSides(reads: Reads, { agent_id, tasks, base_url, profile }: Asked): Promise<KnownSides> {
  const task_ids = disputeSides.flatMap(side => tasks[side] ?? []);
  const [rows, receipts] = await Promise.all([
    reads.query<DisputedRow & Record<string, unknown>>({
      name: 'rows of dispute',
      text: ROWS,
      values: [agent_id, task_ids],
    }),
    readReceipts(reads, task_ids),
  ]);
  const sideOf = (task_id: string | null): KnownSide => {
    const row = rows.find(found => found.task_id === task_id) ?? null;
    const receipt = task_id === null ? null : (receipts[task_ids.indexOf(task_id)] ?? null);
    if (receipt instanceof Error) throw receipt;
    // The receipt of a call that is on another book says nothing of this one.
    return { row, receipt: row && receipt && proofOf(receiptDocument(receipt, base_url, profile)) };
  };
  return { disputed: sideOf(tasks.disputed), other: sideOf(tasks.other) };
}

const ROWS = `select seq, task_id, row_hash, evidence, amount::text as amount,
    ${noted('settlement_vanished')} as settlement_vanished, ${noted('answered_on_resend')} as answered_on_resend
  from book_row r where agent_id = $1 and task_id = any($2)`;

/** Whether the row was corrected for that reason. */
function noted(reason: string): string {
  return `exists (select from book_event e where e.agent_id = r.agent_id and e.seq = r.seq and e.kind = 'correction'
    and e.body->>'reason' = '${reason}')`;
}

/** Links and what may change stay behind: where a receipt is served today says nothing in a verdict. */
const PROOF = [
  'task_id',
  'payload',
  'payload_version',
  'payload_hash',
  'leaf_index',
  'tree_size',
  'log_id',
  'root_hash',
  'tree_head_hash',
  'book_seq',
  'claim_id',
  'issuer_signature',
  'signature',
  'co_signature',
  'profile',
];

function proofOf(document: JsonObject): JsonObject {
  return Object.fromEntries(PROOF.flatMap(name => (name in document ? [[name, document[name] ?? null]] : [])));
}

/** What is known of the sides, by the names of facts. */
export function factsOf(sides: KnownSides): ReadFact {
  return name => {
    const { side, fact } = partsOf(name);
    const { row, receipt } = sides[side];
    const { payload, leaf_index } = (receipt ?? {}) as { payload: JsonObject; leaf_index: Json };
    const told = factOfReceipt(fact, receipt && { payload, leaf_index });
    if (told !== undefined) return told;
    if (fact === 'on_book') return row !== null;
    return (row?.[fact as keyof DisputedRow] ?? null) as Json;
  };
}
