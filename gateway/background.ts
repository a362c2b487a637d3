import type { Logger } from 'pino';
import { DatabaseAway } from '../subgraphs/outage.ts';
import type { Issuer } from '../subgraphs/receipt/issuer/signing-keys.ts';
import type { Vault } from '../subgraphs/vault.ts';
import type { Config } from './config/read-config.ts';
import type { Feature, FeatureParts } from './features/feature.ts';
import { type Jobs, openJobs } from './jobs/open-jobs.ts';
import type { JobEndListener, PeriodicTask, Tasks } from './jobs/task.ts';
import type { BaseStart } from './log/recognize-base.ts';
import type { Operations } from './operations/open.ts';
import { ChainAway } from './rails/epoch.ts';
import { fleetTasks, noticeTasks } from './reconcile/fleet-tasks.ts';
import { openReconciler, type ReconcileParts, type Reconciler } from './reconcile/reconcile.ts';
import { openWebhooks } from './webhooks/open-webhooks.ts';

/** Pause between two rounds of cosigning, by which the submission of a new head may be delayed. */
const COSIGN_REST_MS = 2_000;

interface BackgroundParts {
  readonly base: BaseStart;
  readonly logger: Logger;
  readonly operations: Operations;
  readonly closing: AsyncDisposableStack;
  readonly vault: Vault;
  readonly issuer: Issuer;
  readonly features: readonly Feature[];
  readonly config: Pick<Config, 'webhook_reach' | 'base_url' | 'database_connections_max' | 'profile'>;
}

export interface Background {
  readonly reconciler: Reconciler;
  readonly jobs: Pick<Jobs, 'start' | 'done'>;
}

/** Opens the background work: rounds of this process, and jobs, each of which one process does for all. */
export async function openBackground(
  parts: ReconcileParts,
  { base, logger, operations, closing, vault, issuer, features, config }: BackgroundParts,
): Promise<Background> {
  const failed = (error: unknown) => logger[levelOf(error, base.done)]({ err: error }, 'a round of reconcile failed');
  const reconciler = closing.adopt(await openReconciler(parts, failed, operations.roundEnded), it => it.stop());
  const { database, finishing } = parts;
  const run_with: FeatureParts = {
    database,
    chain: base.chain,
    issuer,
    profile: config.profile,
    now_ms: () => finishing.clock.now_ms(),
  };
  const { metrics } = operations;
  const webhooks = openWebhooks({ database, vault, reach: config.webhook_reach, base_url: config.base_url, metrics });
  const ended: JobEndListener = (task, outcome, error) => {
    operations.jobEnded(task, outcome);
    if (outcome === 'failed') logger[levelOf(error, base.done)]({ err: error, task }, 'a job failed');
  };
  const jobs = openJobs({
    database,
    connections_max: config.database_connections_max,
    owner: finishing.owner,
    steady: reconciler.heartbeat.steady,
    isHalted: () => base.halt !== null,
    logger,
    onEnd: ended,
    tasks: { ...webhooks.tasks, ...noticeTasks, ...tasksOf(features, run_with) },
    periodic: [
      ...fleetTasks(parts),
      ...anchorTasks(base),
      ...cosignTasks(parts),
      ...features.flatMap(({ periodic }) => periodic?.(run_with) ?? []),
      ...webhooks.periodic,
    ],
  });
  closing.adopt(jobs, it => it.stop());
  return { reconciler, jobs };
}

function tasksOf(features: readonly Feature[], parts: FeatureParts): Tasks {
  return Object.assign({}, ...features.map(({ tasks }) => tasks?.(parts) ?? {}));
}

/** Job that anchors the log. Empty if this process never anchors. */
function anchorTasks({ anchoring }: BaseStart): readonly PeriodicTask[] {
  return anchoring ? [{ name: 'anchor', rest_ms: anchoring.poll_ms, run: () => anchoring.anchor() }] : [];
}

/** Job that has the log's heads cosigned. Empty if no witness is configured. */
function cosignTasks({ cosigning }: ReconcileParts): readonly PeriodicTask[] {
  const run = () => cosigning.round().then(() => undefined);
  return cosigning.asked ? [{ name: 'cosign', rest_ms: COSIGN_REST_MS, run }] : [];
}

/**
 * Log level of an error of a round or job. An outage is shown by `/readyz`, and the next round tries again; other errors are defects. Until
 * Base is recognized, no round can use it, which is logged once and not again here.
 */
function levelOf(error: unknown, base_known: boolean): 'debug' | 'warn' | 'error' {
  const faults = error instanceof AggregateError ? error.errors : [error];
  const chain_away = faults.every(fault => fault instanceof ChainAway);
  if (chain_away) return base_known ? 'warn' : 'debug';
  return faults.every(fault => fault instanceof DatabaseAway || fault instanceof ChainAway) ? 'warn' : 'error';
}
