import { atomicAmount } from '../../../schema/amount.ts';
import { type InitialFacts, unknownFacts } from '../../../schema/book-row.ts';
import { canonicalHash, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { noCommitment } from '../../../schema/output-commitment.ts';
import type { WorkReport } from '../../../schema/router/work-report.ts';
import type { KnownBooks } from '../../../subgraphs/book/heads/known-books.ts';
import { lockSoundBooks } from '../../../subgraphs/book/ledger/append-new-rows.ts';
import { type Collection, collect } from '../../../subgraphs/book/ledger/collect.ts';
import {
  countVerified,
  dropGenerations,
  readGenerations,
  takeGenerations,
} from '../../../subgraphs/book/router/generations.ts';
import type { GenerationReport, ReportOutcome } from '../../../subgraphs/book/router/reports.ts';
import type { RouterGeneration } from '../../../subgraphs/book/router/router-book.entity.ts';
import { takeUses } from '../../../subgraphs/book/router/take-uses.ts';
import { iso } from '../../../subgraphs/clock.ts';
import type { Database, Tx } from '../../../subgraphs/database.ts';
import { ROUTER } from '../../../subgraphs/receipt/inference/catalogue.ts';
import { lockLogHead } from '../../../subgraphs/receipt/log/head.ts';
import type { KnownLog } from '../../../subgraphs/receipt/log/known-log.ts';
import type { SavedHead } from '../../../subgraphs/receipt/log/saved-head.ts';
import type { SignedTreeHead } from '../../../subgraphs/receipt/log/tree-head.ts';
import { type PreparedReceipt, prepareReceipt } from '../../../subgraphs/receipt/receipt/issue.ts';
import { readsOf } from '../../../subgraphs/transaction.ts';
import type { Faults } from '../../operations/faults.ts';
import { type FormParts, unpaid } from './forms.ts';

/* Reports in one transaction: names, counts, a receipt that signs no payment, and a row if a book is named. */

export interface ReportingParts extends FormParts {
  readonly database: Database;
  /** This process's knowledge of the log: a batch extends no other. */
  readonly known_log: KnownLog;
  readonly saved_head: SavedHead;
  /** The same for books. */
  readonly known_books: Pick<KnownBooks, 'whenSaved'>;
  readonly faults: Faults | null;
}

/** A report with its receipt, signed except for its place in the log. */
export interface Reporting extends GenerationReport {
  readonly prepared: PreparedReceipt;
}

export interface RecordedReport {
  readonly outcome: ReportOutcome;
  /** Tree head of the batch; null if it appended nothing. */
  readonly tree_head: SignedTreeHead | null;
}

const FIELD = 'Mutation.broadcastGeneration';
const JOB_KIND = 'router_broadcast';
const intent = { job_kind: JOB_KIND, resource: null, intent_id: null, attempt_index: null };
const output_commitment = noCommitment('no_output');
const authorization = { payer_wallet: null, delegation_hash: null, payment_ref: null };

export function prepareReport(
  { issuer, clock, profile }: Pick<ReportingParts, 'issuer' | 'clock' | 'profile'>,
  { generation, agent_id }: GenerationReport,
): PreparedReceipt {
  const reported = reportedOf(generation);
  const { verified_with: _found, ...said } = reported;
  return prepareReceipt(issuer, {
    task_id: generation.taskId,
    issued_at: iso(clock.now_ms()),
    hub: ROUTER,
    model: generation.model,
    job_kind: JOB_KIND,
    // Nothing of it is secret, so it needs no salt; the receipt policy says how it is made.
    request_hash: canonicalHash({ field: FIELD, args: { ...said, model: generation.model } }),
    agent_id,
    caller_binding: {},
    intent_id: null,
    attempt_index: null,
    fulfillment: { intent, authorization, output_commitment },
    settled_by: null,
    payment: null,
    reported,
    profile,
  });
}

function reportedOf({ bookId, generationId, rail, amount, paymentRef, verifiedWith }: RouterGeneration): WorkReport {
  const said = { by: bookId, generation_id: generationId, rail, amount: String(amount) };
  return { ...said, ...present({ payment_ref: paymentRef, verified_with: verifiedWith }) };
}

/**
 * Lock order: Idempotency-Keys sorted → names sorted → counts sorted → log head → book heads by id → sums. Appends nothing if
 * nothing is new.
 */
export async function recordReports(
  { issuer, known_log }: Pick<ReportingParts, 'issuer' | 'known_log'>,
  tx: Tx,
  items: readonly Reporting[],
): Promise<readonly RecordedReport[]> {
  const taken = await takeGenerations(
    tx,
    items.map(({ generation }) => generation),
  );
  const fresh = items.filter(({ generation }) => taken.has(generation.taskId));
  const full = await takeUses(
    tx,
    fresh.map(({ generation, uses }) => ({ name: generation.taskId, uses })),
  );
  dropGenerations(
    tx,
    fresh.flatMap(({ generation }) => (full.has(generation.taskId) ? [generation] : [])),
  );
  const going = fresh.filter(({ generation }) => !full.has(generation.taskId));
  const standing = await readGenerations(
    readsOf(tx),
    items.map(({ generation }) => generation),
  );
  const tree_head = going.length === 0 ? null : await append(tx, going, { issuer, known_log });
  return items.map(({ generation }) => {
    const same = (other: RouterGeneration) =>
      other.bookId === generation.bookId && other.generationId === generation.generationId;
    const found = standing.find(same);
    if (found?.taskId === generation.taskId) return { outcome: { kind: 'recorded' }, tree_head };
    if (found) return { outcome: { kind: 'standing', standing: found }, tree_head };
    const first = fresh.find(other => same(other.generation));
    const no_room = full.get(first?.generation.taskId ?? '');
    if (!no_room) throw new Error(`${generation.taskId} was neither recorded nor refused`);
    return { outcome: { kind: 'full', ...no_room }, tree_head: null };
  });
}

/** @throws book_damaged, unavailable */
async function append(
  tx: Tx,
  items: readonly Reporting[],
  { issuer, known_log }: Pick<ReportingParts, 'issuer' | 'known_log'>,
): Promise<SignedTreeHead> {
  const log = await lockLogHead(tx, known_log);
  // No money to us is involved, so a book that its audit has closed accepts no reports.
  await lockSoundBooks(
    tx,
    items.flatMap(({ agent_id }) => agent_id ?? []),
  );
  const { tree_head } = await collect(tx, issuer, log, items.map(collectionOf));
  countVerified(
    tx,
    items.map(({ generation }) => generation),
  );
  return tree_head;
}

/** Its row has no known amount; what was reported of money is in the receipt only. */
function collectionOf({ agent_id, generation, prepared }: Reporting): Collection {
  if (agent_id === null) return { prepared, landing: null };
  const fulfillment: JsonObject = { ...intent, output_commitment };
  const birth: InitialFacts = {
    ...unknownFacts,
    ...unpaid,
    task_id: generation.taskId,
    model: generation.model,
    hub: ROUTER,
    fulfillment,
    facts: {},
  };
  return { prepared, landing: { agent_id, birth, reserved: atomicAmount(0n) } };
}
