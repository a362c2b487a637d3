import { atomicAmount } from '../../../schema/amount.ts';
import { type InitialFacts, unknownFacts } from '../../../schema/book-row.ts';
import { canonicalHash, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { noCommitment } from '../../../schema/output-commitment.ts';
import type { WorkReport } from '../../../schema/router/work-report.ts';
import { lockSoundBooks } from '../../../subgraphs/book/ledger/append-new-rows.ts';
import type { Collection } from '../../../subgraphs/book/ledger/collect.ts';
import {
  countVerified,
  dropGenerations,
  readGenerations,
  takeGenerations,
} from '../../../subgraphs/book/router/generations.ts';
import type { GenerationReport, ReportOutcome, Reports } from '../../../subgraphs/book/router/reports.ts';
import type { RouterGeneration } from '../../../subgraphs/book/router/router-book.entity.ts';
import { takeUses } from '../../../subgraphs/book/router/take-uses.ts';
import { iso } from '../../../subgraphs/clock.ts';
import { ROUTER } from '../../../subgraphs/receipt/inference/catalogue.ts';
import { type PreparedReceipt, prepareReceipt } from '../../../subgraphs/receipt/receipt/issue.ts';
import { takeKeys } from '../../../subgraphs/receipt/written-once/written-once.ts';
import { readsOf } from '../../../subgraphs/transaction.ts';
import type { Ground } from '../ground.ts';
import { type FormParts, unpaid } from './forms.ts';
import { type RecordKind, recordTogether, requireSaved } from './record.ts';

/** A report and its receipt, which is signed except for its place in the log. */
interface Reporting extends GenerationReport {
  readonly prepared: PreparedReceipt;
}

/**
 * Opens the recording of reports, for which this service was not paid. Each receipt signs no payment, and has a row if the report names a
 * book.
 */
export function openReports(ground: Ground, forms: FormParts): Reports {
  const { record } = recordTogether(ground, reportedKind);
  return {
    async record(report) {
      ground.log.known.requireSound();
      const prepared = prepareReport(forms, report);
      await ground.faults?.reach('before_record');
      return record({ ...report, prepared });
    },
    requireSaved: task_id => requireSaved(ground, task_id),
  };
}

/** Lock order: Idempotency-Keys sorted → names sorted → counts sorted → log head → book heads by id → sums. */
const reportedKind: RecordKind<Reporting, ReportOutcome> = {
  async take(tx, items) {
    await takeKeys(
      tx,
      items.map(({ named }) => named),
    );
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
    const append = async () => {
      // No payment to this service is involved, so a book that its audit has closed accepts no reports.
      await lockSoundBooks(
        tx,
        going.flatMap(({ agent_id }) => agent_id ?? []),
      );
      return going.map(collectionOf);
    };
    return {
      append: going.length === 0 ? null : append,
      async end(appended) {
        if (appended !== null)
          countVerified(
            tx,
            going.map(({ generation }) => generation),
          );
        return items.map(({ generation }) => outcomeOf(generation, { standing, fresh, full }));
      },
    };
  },
};

interface Judged {
  readonly standing: readonly RouterGeneration[];
  readonly fresh: readonly Reporting[];
  readonly full: Awaited<ReturnType<typeof takeUses>>;
}

function outcomeOf(generation: RouterGeneration, { standing, fresh, full }: Judged): ReportOutcome {
  const same = (other: RouterGeneration) =>
    other.bookId === generation.bookId && other.generationId === generation.generationId;
  const found = standing.find(same);
  if (found?.taskId === generation.taskId) return { kind: 'recorded' };
  if (found) return { kind: 'standing', standing: found };
  const first = fresh.find(other => same(other.generation));
  const no_room = full.get(first?.generation.taskId ?? '');
  if (!no_room) throw new Error(`${generation.taskId} was neither recorded nor refused`);
  return { kind: 'full', ...no_room };
}

const FIELD = 'Mutation.broadcastGeneration';
const JOB_KIND = 'router_broadcast';
const intent = { job_kind: JOB_KIND, resource: null, intent_id: null, attempt_index: null };
const output_commitment = noCommitment('no_output');
const authorization = { payer_wallet: null, delegation_hash: null, payment_ref: null };

function prepareReport(
  { issuer, clock, profile }: FormParts,
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
    // Nothing in the report is secret, so the hash needs no salt. The receipt policy states how it is made.
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

/** The receipt and row of a report. The row has no known amount: the reported amount is in the receipt only. */
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
