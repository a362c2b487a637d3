import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import type { ReadFact } from '../../../schema/dispute/claim.ts';
import {
  type DisputeSide,
  disputeSides,
  factOfReceipt,
  partsOf,
  type RowFactOfDispute,
} from '../../../schema/dispute/facts.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { STAMPED_BY } from '../../../schema/route-words.ts';
import type { Database } from '../../database.ts';
import type { OwedAnswer } from '../../receipt/claim/rerun.ts';
import { receiptDocument } from '../../receipt/receipt/document.ts';
import { readReceipts } from '../../receipt/receipt/find.ts';
import type { DisputedJob, JobPaidBy } from './disputed-job.ts';

/* Reads the facts of the rows of a dispute from the book, its receipts, the payment and the board, under the lock of the head. */

export interface DisputedRow {
  readonly seq: number;
  readonly task_id: string;
  readonly row_hash: string;
  readonly evidence: Evidence;
  readonly collected: boolean;
  readonly hub: string | null;
  /** Digits of atomic units. Null if unknown. */
  readonly amount: string | null;
  readonly settlement_vanished: boolean;
  /** Correction event of the resend that brought the response. Null if there is none. */
  readonly resent: JsonObject | null;
  /** True if another charged row names the same intent and attempt. */
  readonly intent_shared: boolean;
}

/** Facts about one of the two rows of a dispute. */
export interface KnownSide {
  /** Null if the evidence names no row, or the book has no row of that task. */
  readonly row: DisputedRow | null;
  /** Members of the public receipt that are needed to verify it offline. Null if the row has no receipt. */
  readonly receipt: JsonObject | null;
  readonly job: DisputedJob | null;
  /** Id of the dispute that refunded the charge. Null if there is none. */
  readonly refunded_by: string | null;
  /** Time until which a resend of the payment may bring a response. Null if it cannot, and always null for the other row. */
  readonly resend_until: string | null;
}

export type KnownSides = Readonly<Record<DisputeSide, KnownSide>>;

/** Reads of a transaction or a database. */
type Queryable = Pick<Database, 'query'>;

interface SideQuery {
  readonly agent_id: AgentId;
  /** Tasks by side. Null if the evidence names no other row. */
  readonly tasks: Readonly<Record<DisputeSide, string | null>>;
  /** The locked payment of the disputed row. Null if none was recorded. */
  readonly owed: OwedAnswer | null;
  readonly base_url: string;
  readonly profile: 'development' | 'production';
  readonly jobPaidBy: JobPaidBy;
}

/** Reads the facts of both rows. @throws record_damaged if a receipt differs from what was signed */
export async function knownSides(reads: Queryable, query: SideQuery): Promise<KnownSides> {
  const { agent_id, tasks, owed, base_url, profile } = query;
  const task_ids = disputeSides.flatMap(side => tasks[side] ?? []);
  const [rows, receipts] = await Promise.all([
    reads.query<DisputedRow & Record<string, unknown>>({
      name: 'rows of dispute',
      text: ROWS,
      values: [agent_id, task_ids],
    }),
    readReceipts(reads, task_ids),
  ]);
  const jobs = new Map<string, DisputedJob>();
  for (const { task_id, hub } of rows) {
    const job = hub === STAMPED_BY ? await query.jobPaidBy(reads, task_id) : null;
    if (job) jobs.set(task_id, job);
  }
  const refunds = await refundsOf(
    reads,
    agent_id,
    rows.map(row => chargeOf(row, jobs.get(row.task_id) ?? null)),
  );
  const sideOf = (task_id: string | null): KnownSide => {
    const row = rows.find(found => found.task_id === task_id) ?? null;
    const receipt = task_id === null ? null : (receipts[task_ids.indexOf(task_id)] ?? null);
    if (receipt instanceof Error) throw receipt;
    const job = (row && jobs.get(row.task_id)) ?? null;
    // A receipt of a call on another book proves nothing about this row.
    const own = row !== null && receipt !== null && (receipt.agentId ?? agent_id) === agent_id;
    return {
      row,
      receipt: own ? proofOf(receiptDocument(receipt, base_url, profile)) : null,
      job,
      refunded_by: (row && refunds.get(chargeOf(row, job))) ?? null,
      // A stamp is carried out only once, so a resend of its payment cannot bring a missing response.
      resend_until:
        row && row.hub !== STAMPED_BY && task_id === tasks.disputed ? (owed?.until?.toISOString() ?? null) : null,
    };
  };
  return { disputed: sideOf(tasks.disputed), other: sideOf(tasks.other) };
}

/** Task of the charge by this service. For a row that pays for a job, it is the task of the fee. */
function chargeOf({ task_id }: DisputedRow, job: DisputedJob | null): string {
  return job?.fee_task_id ?? task_id;
}

async function refundsOf(
  reads: Queryable,
  agent_id: AgentId,
  charges: readonly string[],
): Promise<Map<string, string>> {
  const found = await reads.query<{ charge: string; dispute_id: string }>({
    name: 'refunds of charges',
    text: `select coalesce(refund_of, task_id) as charge, min(dispute_id) as dispute_id from dispute
      where agent_id = $1 and outcome = 'refund' and coalesce(refund_of, task_id) = any($2) group by 1`,
    values: [agent_id, charges],
  });
  return new Map(found.map(({ charge, dispute_id }) => [charge, dispute_id]));
}

const ROWS = `select seq, task_id, row_hash, evidence, collected, hub, amount::text as amount,
    ${correctionWithReason('settlement_vanished')} is not null as settlement_vanished, ${correctionWithReason('answered_on_resend')} as resent,
    exists (select from book_row o where o.agent_id = r.agent_id and o.intent_id = r.intent_id and o.seq <> r.seq
      and o.attempt_index is not distinct from r.attempt_index and o.evidence in ('collected', 'RECORDED_BY_SETTLE')
      and o.amount is not null) as intent_shared
  from book_row r where agent_id = $1 and task_id = any($2)`;

/** SQL for the body of the first correction of the row with this reason. Null if there is none. */
function correctionWithReason(reason: string): string {
  return `(select e.body from book_event e where e.agent_id = r.agent_id and e.seq = r.seq and e.kind = 'correction'
    and e.body->>'reason' = '${reason}' order by e.position limit 1)`;
}

/** Members of a receipt that a verdict contains. Links and members that can change are left out. */
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

/** Facts of a side that come from the book and the board. All other facts come from its receipt. */
const factsOfRow: { readonly [K in RowFactOfDispute]?: (side: KnownSide) => Json } = {
  on_book: ({ row }) => row !== null,
  evidence: ({ row }) => row?.evidence ?? null,
  collected: ({ row }) => row?.collected ?? null,
  amount: ({ row }) => row?.amount ?? null,
  settlement_vanished: ({ row }) => row?.settlement_vanished ?? null,
  answered_on_resend: ({ row }) => row && row.resent !== null,
  resend_model: ({ row }) => row?.resent?.model ?? null,
  resend_answered_model: ({ row }) => row?.resent?.answered_model ?? null,
  resend_answered_catalogue_model: ({ row }) => row?.resent?.answered_catalogue_model ?? null,
  intent_shared: ({ row }) => row?.intent_shared ?? false,
  resend_until: ({ resend_until }) => resend_until,
  refunded_by: ({ refunded_by }) => refunded_by,
  job_id: ({ job }) => job?.job_id ?? null,
  job_paid_at: ({ job }) => job?.paid_at ?? null,
  job_challenged_at: ({ job }) => job?.challenged_at ?? null,
  job_revealed_at: ({ job }) => job?.revealed_at ?? null,
  job_winner: ({ job }) => job?.winner_agent_id ?? null,
  job_price: ({ job }) => job?.price ?? null,
  job_fee: ({ job }) => job?.fee ?? null,
  job_fee_task_id: ({ job }) => job?.fee_task_id ?? null,
};

/** Returns a function that reads a fact of a side by its name. */
export function disputeFactReader(sides: KnownSides): ReadFact {
  return name => {
    const { side, fact } = partsOf(name);
    const { receipt } = sides[side];
    const { payload, leaf_index } = (receipt ?? {}) as { payload: JsonObject; leaf_index: Json };
    return factOfReceipt(fact, receipt && { payload, leaf_index }) ?? factsOfRow[fact]?.(sides[side]) ?? null;
  };
}
