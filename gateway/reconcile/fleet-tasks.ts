import { limits } from '../../schema/limits.ts';
import { announceBid } from '../../subgraphs/board/job/announce-bid.ts';
import { expireJobs } from '../../subgraphs/board/job/expire.ts';
import { forgetOutputs } from '../../subgraphs/board/job/output.ts';
import { forgetApprovals, forgetCallTexts } from '../../subgraphs/book/approval/forget.ts';
import { announceOffer } from '../../subgraphs/book/escrow/announce-offer.ts';
import { expireEscrows } from '../../subgraphs/book/escrow/expire.ts';
import { correctYielded } from '../../subgraphs/book/ingest/yield.ts';
import { correct } from '../../subgraphs/book/ledger/correct.ts';
import { forgetHours } from '../../subgraphs/book/ledger/repeated-events.ts';
import { forgetUses } from '../../subgraphs/counted-use.ts';
import type { Tx } from '../../subgraphs/database.ts';
import { forgetSuperseded } from '../../subgraphs/jobs.ts';
import { doubtPayments } from '../../subgraphs/receipt/claim/doubt.ts';
import { forgetClaims } from '../../subgraphs/receipt/claim/forget.ts';
import { forgetKeyCalls } from '../../subgraphs/receipt/claim/key-call/hold.ts';
import { forgetNames } from '../../subgraphs/receipt/claim/key-call/idempotency-names.ts';
import { tasksOfSettlement } from '../../subgraphs/receipt/claim/transitions.ts';
import { forgetWrites } from '../../subgraphs/receipt/written-once/written-once.ts';
import { forgetUnpaidSessions } from '../../subgraphs/session/delegation/forget-unpaid-sessions.ts';
import { forgetUsedProofs } from '../../subgraphs/session/possession/forget-used-proofs.ts';
import type { PeriodicTask, Tasks } from '../jobs/task.ts';
import type { RecheckResult } from '../rails/finality.ts';
import { onEachRail } from '../rails/rail.ts';
import { lookAtExpired } from './finish-claims.ts';
import { recheckIngests } from './ingest-finality.ts';
import type { ReconcileParts } from './reconcile.ts';
import { lookAtDoubted, lookForArrivals } from './recorded-payments.ts';

interface FleetTask extends Omit<PeriodicTask, 'run'> {
  run(parts: ReconcileParts): Promise<unknown>;
}

const tasks: readonly FleetTask[] = [
  { name: 'expired', rest_ms: 2_000, run: ({ finishing }) => lookAtExpired(finishing) },
  { name: 'arrivals', rest_ms: 1_000, run: ({ finishing }) => lookForArrivals(finishing) },
  { name: 'finality', rest_ms: 5_000, run: ({ rails }) => onEachRail(rails, rail => rail.recheck(noteMoved)) },
  { name: 'doubted', rest_ms: 15_000, run: ({ finishing }) => lookAtDoubted(finishing) },
  { name: 'ingests', rest_ms: 5_000, run: recheckRecorded },
  { name: 'used_once', rest_ms: 60_000, run: ({ database }) => forgetUsedProofs(database) },
  { name: 'key_calls', rest_ms: 10_000, run: ({ database }) => forgetKeyCalls(database) },
  { name: 'named_calls', rest_ms: 10_000, run: ({ database }) => forgetNames(database) },
  { name: 'writes_once', rest_ms: 60_000, run: ({ database }) => forgetWrites(database) },
  { name: 'escrows', rest_ms: 5_000, run: ({ finishing }) => expireEscrows(finishing) },
  { name: 'board_jobs', rest_ms: 5_000, run: ({ database }) => expireJobs(database) },
  { name: 'board_outputs', rest_ms: 600_000, run: ({ database }) => forgetOutputs(database) },
  { name: 'yielded_ingests', rest_ms: 15_000, run: ({ finishing }) => correctYielded(finishing) },
  { name: 'forget', rest_ms: 600_000, run: forget },
  { name: 'router_uses', rest_ms: 600_000, run: ({ database }) => forgetUses(database, 'router_use') },
  { name: 'board_uses', rest_ms: 600_000, run: ({ database }) => forgetUses(database, 'board_use') },
  { name: 'session_uses', rest_ms: 600_000, run: ({ database }) => forgetUses(database, 'session_use') },
  { name: 'asked_texts', rest_ms: 15_000, run: ({ database }) => forgetCallTexts(database) },
  { name: 'approvals', rest_ms: 600_000, run: ({ database }) => forgetApprovals(database) },
  { name: 'unbound_sessions', rest_ms: 600_000, run: ({ database }) => forgetUnpaidSessions(database) },
  { name: 'superseded_jobs', rest_ms: 600_000, run: ({ database }) => forgetSuperseded(database) },
];

/**
 * Periodic jobs that one process does for all. Every job locks its rows or is conditional, so that it stays correct if all processes do it
 * at once.
 */
export function fleetTasks(parts: ReconcileParts): readonly PeriodicTask[] {
  return tasks.map(({ run, ...task }) => ({ ...task, run: () => run(parts).then(() => undefined) }));
}

/** Checks payments to others that were recorded before they were final. */
function recheckRecorded({ database, transfers, finishing: { clock, random } }: ReconcileParts): Promise<void> {
  return recheckIngests({ database, transfers, clock, random });
}

async function forget({ database }: ReconcileParts): Promise<void> {
  await forgetClaims(database, {
    answer_hours: limits.answer_kept_hours,
    lapsed_seconds: limits.claim_forgotten_after_seconds,
    reverted_seconds: limits.wallet_reverted_rest_seconds,
  });
  await forgetHours(database);
}

/**
 * Handles a settlement that a reorganisation removed from the block of its receipt: its rows are marked. Its payments move the same money
 * in another block, except those that expired or failed, so each is checked again.
 */
async function noteMoved(tx: Tx, { settlement_id, kind }: RecheckResult): Promise<void> {
  doubtPayments(tx, settlement_id);
  const task_ids = await tasksOfSettlement(tx, settlement_id);
  await correct(
    tx,
    task_ids.map(task_id => ({ task_id, body: { reason: `settlement_${kind}` } })),
  );
}

/** Jobs that notify owners of books, by webhook, of the actions of other agents. */
export const noticeTasks: Pick<Tasks, 'board/bid' | 'book/escrow_offer'> = {
  'board/bid': { run: ({ bid_id }, { database }) => announceBid(database, bid_id) },
  'book/escrow_offer': { run: ({ escrow_id }, { database }) => announceOffer(database, escrow_id) },
};
