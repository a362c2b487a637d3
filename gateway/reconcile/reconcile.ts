import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../schema/limits.ts';
import type { BlockedCalls } from '../../subgraphs/book/ledger/blocked-calls.ts';
import { correct } from '../../subgraphs/book/ledger/correct.ts';
import { forgetHours } from '../../subgraphs/book/ledger/repeated-events.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import { forgetClaims } from '../../subgraphs/receipt/claim/forget.ts';
import { forgetKeyCalls } from '../../subgraphs/receipt/claim/key-call/hold.ts';
import { forgetNames } from '../../subgraphs/receipt/claim/key-call/idempotent.ts';
import { tasksOfSettlement } from '../../subgraphs/receipt/claim/transitions.ts';
import { forgetUsed } from '../../subgraphs/session/possession/forget-used.ts';
import type { ReleaseLater } from '../charge/release-later.ts';
import type { LogStanding } from '../log/open-log.ts';
import type { Rechecked } from '../rails/finality.ts';
import { openRails, type Rail, type Rails } from '../rails/rail.ts';
import { keepBlocked, tellCounts } from '../record/blocked-too-often.ts';
import { lookForArrivals } from './arrivals.ts';
import { type FinishParts, finishOrphans, lookAtExpired } from './finish-claims.ts';
import { type Heartbeat, openHeartbeat } from './heartbeat.ts';

export interface ReconcileParts {
  readonly database: Database;
  readonly rails: Rails;
  readonly log: Pick<LogStanding, 'halt'>;
  readonly finishing: FinishParts;
  /** Claims that could not be let go of while the database was away. */
  readonly later: ReleaseLater;
  readonly blocked_calls: BlockedCalls;
}

interface Round {
  readonly name: string;
  readonly rest_ms: number;
  /** Goes on while the log is halted: all others write what a database that has gone back says of payments. */
  readonly while_halted?: true;
  run(parts: ReconcileParts, heartbeat: Heartbeat): Promise<unknown>;
}

/** What is looked after, and how long each rests between two rounds; none waits for another. */
const rounds: readonly Round[] = [
  { name: 'owed', rest_ms: 1_000, run: ({ later }) => later.tryAgain() },
  { name: 'rebroadcast', rest_ms: 1_000, run: ({ rails }) => onEachRail(rails, rail => rail.settler.rebroadcast()) },
  { name: 'orphans', rest_ms: 1_000, run: orphans },
  { name: 'expired', rest_ms: 1_000, run: ({ finishing }) => lookAtExpired(finishing) },
  { name: 'arrivals', rest_ms: 1_000, run: ({ finishing }) => lookForArrivals(finishing) },
  { name: 'finality', rest_ms: 5_000, run: ({ rails }) => onEachRail(rails, rail => rail.recheck(noteMoved)) },
  { name: 'chain', rest_ms: 5_000, while_halted: true, run: ({ rails }) => onEachRail(rails, rail => rail.look()) },
  { name: 'used once', rest_ms: 60_000, run: ({ database }) => forgetUsed(database) },
  { name: 'counts', rest_ms: 5_000, run: tellCounts },
  { name: 'key calls', rest_ms: 10_000, run: ({ database }) => forgetKeyCalls(database) },
  { name: 'named calls', rest_ms: 10_000, run: ({ database }) => forgetNames(database) },
  { name: 'forget', rest_ms: 600_000, run: forget },
];

async function forget({ database }: ReconcileParts): Promise<void> {
  await forgetClaims(database, {
    answer_hours: limits.answer_kept_hours,
    lapsed_seconds: limits.claim_forgotten_after_seconds,
    reverted_seconds: limits.wallet_reverted_rest_seconds,
  });
  await forgetHours(database);
}

export interface Reconciler {
  readonly heartbeat: Pick<Heartbeat, 'beating' | 'clock_off_ms'>;
  stop(): Promise<void>;
}

/**
 * Finishes what a dead process, a stalled chain or a lost connection left open: at start and on a timer, in every
 * process, each claim by one of them. `trouble` hears of a round that failed; the next one begins anew. `ended` hears of
 * every round.
 */
export async function openReconciler(
  parts: ReconcileParts,
  trouble: (error: unknown) => void,
  ended: (round: string, outcome: 'done' | 'failed') => void = () => {},
): Promise<Reconciler> {
  const heartbeat = await openHeartbeat(parts.database, parts.finishing.owner, trouble);
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = rounds.map(async ({ name, rest_ms, while_halted, run }) => {
    while (!signal.aborted) {
      if (while_halted || !parts.log.halt)
        await run(parts, heartbeat).then(
          () => ended(name, 'done'),
          error => {
            ended(name, 'failed');
            trouble(error);
          },
        );
      await sleep(rest_ms, undefined, { signal }).catch(() => {});
    }
  });
  return {
    heartbeat,
    async stop() {
      stopping.abort();
      await Promise.all(running);
      // Where the database is away they are lost, as with a kill.
      if (!parts.log.halt) await keepBlocked(parts).catch(trouble);
      await heartbeat.stop();
    },
  };
}

/** A chain that is away keeps no other waiting. */
async function onEachRail(rails: Rails, round: (rail: Rail) => Promise<unknown>): Promise<void> {
  const done = await Promise.allSettled(openRails({ rails }).map(round));
  const faults = done.flatMap(one => (one.status === 'rejected' ? [one.reason] : []));
  if (faults.length > 0) throw faults.length === 1 ? faults[0] : new AggregateError(faults);
}

/** Whoever is taken for dead by a process that stood still itself may live. */
async function orphans({ finishing }: ReconcileParts, heartbeat: Heartbeat): Promise<void> {
  if (heartbeat.steady()) await finishOrphans(finishing);
}

/** A reorganisation took a settlement out of the block that a receipt was given for: the rows say so. */
async function noteMoved(tx: Tx, { settlement_id, kind }: Rechecked): Promise<void> {
  const task_ids = await tasksOfSettlement(tx, settlement_id);
  await correct(
    tx,
    task_ids.map(task_id => ({ task_id, body: { reason: `settlement_${kind}` } })),
  );
}
