import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { z } from 'zod';
import { damagedBooks } from '../../subgraphs/book/audit/audit-database.ts';
import type { Database } from '../../subgraphs/database.ts';
import { READY_JOBS_MAX, readyJobs } from '../../subgraphs/jobs.ts';
import { figures } from '../../subgraphs/receipt/claim/figures.ts';
import { type Hubs } from '../../subgraphs/receipt/inference/hubs/open.ts';
import { witnessStandings } from '../../subgraphs/receipt/log/cosignatures.ts';
import type { VerifierKey } from '../../subgraphs/receipt/verify/verifier-key.ts';
import type { Queues } from '../call/claim/queues.ts';
import { lookInTime, type Metrics, SCRAPE_MS_MAX, type SocketTally } from './metrics.ts';
import type { Precedence } from './precedence.ts';
import { lanes, needs, type Readiness } from './readiness.ts';

/* Metrics whose values are read at each scrape: of the database, books, witnesses, jobs, queues, hubs, sockets and the process. */

interface WatchParts {
  readonly database: Database;
  readonly queues: Queues;
  readonly readiness: Readiness;
  /** The witnesses that cosign the log's checkpoints. */
  readonly witnesses: readonly VerifierKey[];
  /** Metrics of features beyond the specification. */
  readonly more: readonly ((metrics: Metrics, database: Database) => void)[];
}

/** Registers every metric whose value is read at a scrape. */
export function watch(metrics: Metrics, { database, queues, readiness, witnesses, more }: WatchParts): void {
  watchPool(metrics, database);
  watchFigures(metrics, database);
  watchBooks(metrics, database);
  watchWitnesses(metrics, database, witnesses);
  for (const watchMore of more) watchMore(metrics, database);
  watchQueues(metrics, queues);
  watchJobs(metrics, database);
  metrics.watch('svc_away', '1 if a part that paid calls need is unavailable', ['need'], async () => {
    const away: readonly string[] = [...(await readiness.missingNeeds()), ...readiness.missingLanes()];
    return [...needs, ...lanes].map(need => [{ need }, Number(away.includes(need))] as const);
  });
}

function watchPool(metrics: Metrics, database: Database): void {
  metrics.watch('svc_database_connections', 'Database connections of the pool', ['state'], () => {
    const { open, idle } = database.usage();
    return [
      [{ state: 'idle' }, idle],
      [{ state: 'busy' }, open - idle],
    ];
  });
  metrics.watch('svc_database_waiting', 'Callers that wait for a database connection', [], () => [
    [{}, database.usage().waiting],
  ]);
}

/** Number of damaged books, for an alarm. It is 0 unless a recorded row was altered. */
function watchBooks(metrics: Metrics, database: Database): void {
  metrics.watch(
    'svc_damaged_books',
    'Books that are closed because their stored events contradict each other',
    [],
    async () => {
      const books = await lookInTime(damagedBooks(database), SCRAPE_MS_MAX);
      return books === null ? [] : [[{}, books]];
    },
  );
}

/** State of the witnesses. `svc_witness_trouble{trouble="refused"}` is for an alarm: it is 1 if a witness reports a fork of the log. */
function watchWitnesses(metrics: Metrics, database: Database, witnesses: readonly VerifierKey[]): void {
  const look = async () => {
    const keys = witnesses.map(({ text }) => text);
    const standings = keys.length === 0 ? [] : await lookInTime(witnessStandings(database, keys), SCRAPE_MS_MAX);
    return (standings ?? []).map((standing, at) => ({ ...standing, name: witnesses[at]?.name ?? '' }));
  };
  metrics.watch('svc_witness_leaves', 'Number of leaves that a witness has cosigned', ['witness'], async () =>
    (await look()).map(({ name, cosigned_size }) => [{ witness: name }, cosigned_size] as const),
  );
  metrics.watch(
    'svc_witness_trouble',
    '1 for the reason why a witness cosigns nothing newer',
    ['witness', 'trouble'],
    async () =>
      (await look()).flatMap(({ name, trouble }) => (trouble ? [[{ witness: name, trouble }, 1] as const] : [])),
  );
}

/** Figures of the database. All of these metrics share one read. */
function watchFigures(metrics: Metrics, database: Database): void {
  let keys: ReturnType<typeof lookUp> | null = null;
  const lookUp = () => lookInTime(figures(database), SCRAPE_MS_MAX).finally(() => (keys = null));
  const one = (name: keyof Awaited<ReturnType<typeof figures>>) => async () => {
    keys ??= lookUp();
    const seen = await keys;
    return seen ? ([[{}, seen[name]]] as const) : [];
  };
  metrics.watch('svc_open_claims', 'Payments that are neither recorded nor released', [], one('open_claims'));
  metrics.watch(
    'svc_oldest_open_claim_seconds',
    'Age of the oldest payment that is neither recorded nor released',
    [],
    one('oldest_open_seconds'),
  );
  metrics.watch('svc_log_leaves', 'Leaves of the receipt log', [], one('leaves'));
  metrics.watch(
    'svc_settle_fee_day_atomic',
    'Cost of settlements since midnight UTC, in atomic USDC',
    [],
    one('fee_day_atomic'),
  );
  const settled = 'Payments that these settlements cover; the cost divided by them is the cost of each';
  metrics.watch('svc_settle_day_authorizations', settled, [], one('fee_day_authorizations'));
}

/** Jobs that are ready to run. Both metrics share one read. */
function watchJobs(metrics: Metrics, database: Database): void {
  let keys: ReturnType<typeof lookUp> | null = null;
  const lookUp = () => lookInTime(readyJobs(database), SCRAPE_MS_MAX).finally(() => (keys = null));
  const each = (figure: 'jobs' | 'oldest_seconds') => async () => {
    keys ??= lookUp();
    return ((await keys) ?? []).map(({ task, [figure]: seen }) => [{ task }, seen] as const);
  };
  const ready = `Jobs of the fleet that are ready to run and have not begun; at most ${READY_JOBS_MAX} are counted`;
  metrics.watch('svc_jobs_ready', ready, ['task'], each('jobs'));
  metrics.watch(
    'svc_oldest_ready_job_seconds',
    'Time for which the oldest ready job has waited',
    ['task'],
    each('oldest_seconds'),
  );
}

function watchQueues(metrics: Metrics, queues: Queues): void {
  const named = Object.entries(queues) as [keyof Queues, Queues[keyof Queues]][];
  for (const [queue, commits] of named) {
    commits.onCommit = (items, ms) => {
      metrics.batchItems.observe({ queue }, items);
      metrics.commits.observe({ queue }, ms / 1e3);
    };
  }
  metrics.watch('svc_commit_waiting', 'Calls that wait for a database commit', ['queue'], () =>
    named.map(([queue, { waiting }]) => [{ queue }, waiting] as const),
  );
}

/** State of the hubs, labelled by their names in the configuration. A hub without requests has no value. */
export function watchHubs(metrics: Metrics, hubs: Hubs): void {
  metrics.watch('svc_hub_health', 'Health of a hub, from 1 (healthy) to 0 (paused)', ['hub', 'modality'], () =>
    hubs.standings.map(({ hub, modality, health }) => [{ hub, modality }, health] as const),
  );
  for (const [delay, name, help] of hubDelays)
    metrics.watch(name, help, ['hub', 'modality'], () =>
      hubs.standings.flatMap(({ hub, modality, [delay]: ms }) =>
        ms === null ? [] : [[{ hub, modality }, ms / 1e3] as const],
      ),
    );
  metrics.watch('svc_hub_waiting', 'Calls that wait for a connection to the hub', ['hub'], () =>
    hubs.waiting.map(([hub, callers]) => [{ hub }, callers] as const),
  );
}

const hubDelays = [
  ['answer_ms', 'svc_hub_answer_seconds', 'Recent time to a complete response of the hub'],
  ['first_piece_ms', 'svc_hub_first_piece_seconds', 'Recent time to the first byte of a stream of the hub'],
] as const;

export function watchSockets(metrics: Metrics, tally: SocketTally): void {
  metrics.watch('svc_sockets', 'Open sockets', [], () => [[{}, tally.open]]);
  metrics.watch('svc_socket_operations', 'Operations in progress on sockets', [], () => [[{}, tally.operations]]);
  metrics.watchTotal('svc_socket_deliveries_total', 'Responses and events sent to sockets', [], () => [
    [{}, tally.deliveries],
  ]);
  metrics.watchTotal('svc_sockets_dropped_total', 'Sockets that the service closed, by reason', ['reason'], () =>
    Object.entries(tally.dropped).map(([reason, dropped]) => [{ reason }, dropped] as const),
  );
}

export function watchPrecedence(metrics: Metrics, precedence: Pick<Precedence, 'paid' | 'waiting' | 'late'>): void {
  metrics.watch(
    'svc_paid_calls_first',
    'Calls that go before other requests: their payment was verified or key accepted',
    [],
    () => [[{}, precedence.paid]],
  );
  metrics.watch('svc_requests_waiting', 'Requests that wait for their turn, because paid calls go first', [], () => [
    [{}, precedence.waiting],
  ]);
  metrics.watchTotal('svc_requests_late_total', 'Requests that waited for the maximum time for their turn', [], () => [
    [{}, precedence.late],
  ]);
}

const PACKAGE = join(import.meta.dirname, '..', '..', 'package.json');
const DELAY_RESOLUTION_MS = 20;

/** Metrics of every process, under the names of Prometheus's own clients. Returns the function that stops them. */
export function watchProcess(metrics: Metrics): () => void {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(PACKAGE, 'utf8')));
  const started_seconds = Date.now() / 1_000 - process.uptime();
  const build = [[{ version, node: process.version }, 1]] as const;
  metrics.watch('svc_build_info', 'Version of the service and of Node', ['version', 'node'], () => build);
  metrics.watch('process_start_time_seconds', 'Unix time at which the process started', [], () => [
    [{}, started_seconds],
  ]);
  metrics.watchTotal('process_cpu_seconds_total', 'CPU time', ['mode'], () => {
    const { user, system } = process.cpuUsage();
    return [
      [{ mode: 'user' }, user / 1e6],
      [{ mode: 'system' }, system / 1e6],
    ];
  });
  metrics.watch('process_open_fds', 'Open file descriptors', [], async () => {
    // This folder exists on Linux only.
    const open = await readdir('/proc/self/fd').catch(() => null);
    return open ? [[{}, open.length]] : [];
  });
  metrics.watch('nodejs_memory_bytes', 'Memory by kind', ['kind'], () => {
    const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
    return Object.entries({ resident: rss, heap: heapTotal, heap_used: heapUsed, external }).map(
      ([kind, bytes]) => [{ kind }, bytes] as const,
    );
  });
  return watchDelay(metrics);
}

/** Registers the delay of timers in the event loop: every caller waits for it, in addition to the call itself. */
function watchDelay(metrics: Metrics): () => void {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  // `quantile` is a label of summaries, and the values since the last scrape cannot form a summary.
  metrics.watch(
    'nodejs_eventloop_delay_seconds',
    'Delay of the event loop since the last scrape',
    ['statistic'],
    () => {
      const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - DELAY_RESOLUTION_MS / 1e3);
      const seen = [
        [{ statistic: 'p50' }, late(delay.percentile(50))],
        [{ statistic: 'p99' }, late(delay.percentile(99))],
        [{ statistic: 'max' }, late(delay.max)],
      ] as const;
      const any = delay.count > 0;
      delay.reset();
      return any ? seen : [];
    },
  );
  return () => delay.disable();
}
