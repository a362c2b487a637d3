import { setTimeout as sleep } from 'node:timers/promises';
import type { BlockedCalls } from '../../subgraphs/book/ledger/blocked-calls.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { ForeignTransfers } from '../../subgraphs/foreign-transfers.ts';
import { appendCounts, storeCounts } from '../call/claim/blocked-too-often.ts';
import type { ReleaseLater } from '../call/release-later.ts';
import type { Cosigning } from '../log/cosigning.ts';
import type { LogStanding } from '../log/open-log.ts';
import { onEachRail, type Rails } from '../rails/rail.ts';
import { type FinishParts, finishOrphans } from './finish-claims.ts';
import { type Heartbeat, openHeartbeat } from './heartbeat.ts';

export interface ReconcileParts {
  readonly database: Database;
  readonly rails: Rails;
  readonly log: Pick<LogStanding, 'halt' | 'signs'>;
  readonly finishing: FinishParts;
  /** Claims that could not be released while the database was unreachable. */
  readonly later: ReleaseLater;
  readonly blocked_calls: BlockedCalls;
  /** Verifiers of payments to others. */
  readonly transfers: Pick<ForeignTransfers, 'standing'>;
  readonly cosigning: Pick<Cosigning, 'round' | 'asked'>;
}

interface Round {
  readonly name: string;
  readonly rest_ms: number;
  /** True if the round also runs while the log is halted. The other rounds write what an outdated database contains about payments. */
  readonly while_halted?: true;
  run(parts: ReconcileParts, heartbeat: Heartbeat): Promise<unknown>;
}

/**
 * Rounds that every process runs, independently of each other, with the pause between them. They concern what the process itself holds, or
 * money that must not wait for a queue. Other work is in fleet-tasks.ts.
 */
const rounds: readonly Round[] = [
  { name: 'owed', rest_ms: 1_000, run: ({ later }) => later.tryAgain() },
  { name: 'rebroadcast', rest_ms: 1_000, run: ({ rails }) => onEachRail(rails, rail => rail.settler.rebroadcast()) },
  { name: 'orphans', rest_ms: 1_000, run: orphans },
  { name: 'chain', rest_ms: 5_000, while_halted: true, run: ({ rails }) => onEachRail(rails, rail => rail.look()) },
  { name: 'counts', rest_ms: 5_000, run: appendCounts },
];

export interface Reconciler {
  readonly heartbeat: Pick<Heartbeat, 'isBeating' | 'steady' | 'clock_off_ms'>;
  stop(): Promise<void>;
}

/**
 * Finishes what a dead process or a lost connection left open, and sends again what a chain lost. It runs at the start and on a timer, in
 * every process; one process handles each claim. `trouble` is called with the error of a failed round, `ended` after every round.
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
      // If the database is unreachable, the counts are lost, as in a crash.
      if (!parts.log.halt) await storeCounts(parts).catch(trouble);
      await heartbeat.stop();
    },
  };
}

/** Finishes claims of dead processes. A process that was suspended may consider a living one dead, so it must be steady. */
async function orphans({ finishing }: ReconcileParts, heartbeat: Heartbeat): Promise<void> {
  if (heartbeat.steady()) await finishOrphans(finishing);
}
