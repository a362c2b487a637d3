import { canonicalHash, type JsonObject } from '../../../schema/canonical-json.ts';
import { foreignRef, type ObservedTransfer, transferSlot } from '../../../schema/observed-transfer.ts';
import { outputCommitmentOf } from '../../../schema/output-commitment.ts';
import type { CompletionRequest } from '../../../schema/requests/completion.ts';
import { INBOUND } from '../../../schema/router/work-report.ts';
import { appendBoardEvents } from '../../../subgraphs/board/event/append.ts';
import type { BoardCompletion } from '../../../subgraphs/board/inbound/completion.entity.ts';
import type { CompletionOutcome } from '../../../subgraphs/board/inbound/completions.ts';
import {
  dropCompletions,
  isSameCompletion,
  readCompletions,
  takeCompletions,
} from '../../../subgraphs/board/inbound/store.ts';
import { collect } from '../../../subgraphs/book/ledger/collect.ts';
import { iso } from '../../../subgraphs/clock.ts';
import type { NamedWrite } from '../../../subgraphs/context.ts';
import type { Tx } from '../../../subgraphs/database.ts';
import { takeFreeSlots } from '../../../subgraphs/receipt/claim/slots.ts';
import { lockLogHead } from '../../../subgraphs/receipt/log/head.ts';
import type { SignedTreeHead } from '../../../subgraphs/receipt/log/tree-head.ts';
import { type PreparedReceipt, prepareReceipt } from '../../../subgraphs/receipt/receipt/issue.ts';
import { readsOf } from '../../../subgraphs/transaction.ts';
import type { ReportingParts } from './record-reports.ts';

/*
 * Work completed elsewhere, in one transaction: its name and transfer are taken, and a receipt signs no payment to this service.
 */

export interface Completing {
  readonly completion: BoardCompletion;
  readonly named: NamedWrite | null;
  /** Signed, except for its place in the log. */
  readonly prepared: PreparedReceipt;
}

export interface CompletedReport {
  readonly outcome: CompletionOutcome;
  /** Tree head of the batch; null if it appended nothing. */
  readonly tree_head: SignedTreeHead | null;
}

const FIELD = 'Mutation.recordCompletion';
const JOB_KIND = 'other';

/** Nobody here has seen what was delivered or who answered, so what was reported of the payment is signed as a report. */
export function prepareCompletion(
  { issuer, clock, profile }: Pick<ReportingParts, 'issuer' | 'clock' | 'profile'>,
  { taskId, said, transfer }: BoardCompletion,
): PreparedReceipt {
  const request = said as unknown as CompletionRequest;
  const seen = transfer as ObservedTransfer | null;
  const { source, external_id: generation_id, payer, payee, amount, network, output_hash } = request;
  const payment_ref = foreignRef(request);
  const intent = { job_kind: JOB_KIND, resource: null, intent_id: null, attempt_index: null };
  const authorization = {
    payer_wallet: seen?.payer ?? null,
    delegation_hash: null,
    payment_ref: seen ? payment_ref : null,
  };
  const output_commitment = outputCommitmentOf('reporter', output_hash);
  return prepareReceipt(issuer, {
    task_id: taskId,
    issued_at: iso(clock.now_ms()),
    hub: '',
    model: '',
    job_kind: JOB_KIND,
    // Nothing of it is secret: the caller can recompute it from the report.
    request_hash: canonicalHash({ field: FIELD, args: said }),
    agent_id: null,
    caller_binding: {},
    intent_id: null,
    attempt_index: null,
    fulfillment: { intent, authorization, output_commitment } satisfies JsonObject,
    settled_by: seen ? 'observed_transfer' : null,
    payment: null,
    reported: {
      by: `${INBOUND}${source}`,
      generation_id,
      rail: 'usdc',
      amount,
      payment_ref,
      ...(seen ? { verified_with: network } : {}),
    },
    reported_parties: { payer, payee, verified: seen !== null },
    profile,
  });
}

/**
 * Lock order: Idempotency-Keys sorted → names sorted → slots sorted → log head → the board's head. Appends nothing if nothing is
 * new.
 */
export async function recordCompletions(
  { issuer, known_log }: Pick<ReportingParts, 'issuer' | 'known_log'>,
  tx: Tx,
  items: readonly Completing[],
): Promise<readonly CompletedReport[]> {
  const completions = items.map(({ completion }) => completion);
  const taken = await takeCompletions(tx, completions);
  const fresh = items.filter(({ completion }) => taken.has(completion.taskId));
  const robbed = await withoutTransfer(
    tx,
    fresh.map(({ completion }) => completion),
  );
  dropCompletions(tx, robbed);
  const going = fresh.filter(({ completion }) => !robbed.includes(completion));
  const standing = await readCompletions(readsOf(tx), completions);
  const tree_head = going.length === 0 ? null : await append(tx, going, { issuer, known_log });
  return items.map(({ completion }) => {
    const found = standing.find(other => isSameCompletion(other, completion));
    if (!found) return { outcome: { kind: 'transfer_taken' }, tree_head: null };
    if (found.taskId === completion.taskId) return { outcome: { kind: 'recorded' }, tree_head };
    return { outcome: { kind: 'standing', standing: found }, tree_head };
  });
}

/** Those whose transfer backs something else already; a transfer backs one thing permanently. */
async function withoutTransfer(tx: Tx, fresh: readonly BoardCompletion[]): Promise<readonly BoardCompletion[]> {
  const wanted = fresh.flatMap(completion => {
    const transfer = completion.transfer as ObservedTransfer | null;
    const claim_key = `inbound:${completion.taskId}`;
    return transfer === null ? [] : [{ completion, slot: transferSlot(transfer), claim_key }];
  });
  const missed = await takeFreeSlots(
    tx,
    wanted.map(({ slot, claim_key }) => ({ slot, claim_key })),
  );
  const lost = new Set(missed.map(({ claim_key }) => claim_key));
  return wanted.filter(({ claim_key }) => lost.has(claim_key)).map(({ completion }) => completion);
}

/** @throws unavailable */
async function append(
  tx: Tx,
  items: readonly Completing[],
  { issuer, known_log }: Pick<ReportingParts, 'issuer' | 'known_log'>,
): Promise<SignedTreeHead> {
  const log = await lockLogHead(tx, known_log);
  const { tree_head } = await collect(
    tx,
    issuer,
    log,
    items.map(({ prepared }) => ({ prepared, landing: null })),
  );
  appendBoardEvents(
    tx,
    items.map(({ completion: { taskId: task_id } }) => ({
      kind: 'completion_recorded' as const,
      task_id,
      at_ms: log.collected_at_ms,
    })),
  );
  return tree_head;
}
