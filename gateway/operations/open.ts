import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { type Clock, systemClock } from '../../subgraphs/clock.ts';
import type { DamagedRecord } from '../../subgraphs/receipt/damaged-record.ts';
import type { HubOptions } from '../../subgraphs/receipt/inference/hubs/open.ts';
import { type Exposure, Metrics, SocketTally } from './metrics.ts';
import { PaidCalls } from './paid-calls.ts';
import { Precedence } from './precedence.ts';
import { Requests } from './requests.ts';
import { watchPrecedence, watchProcess, watchSockets } from './watch.ts';

/*
 * Opens what an operator needs from one gateway: metrics, and the counts of requests, paid calls and sockets. Also logs refusals of hubs
 * that only the operator can fix.
 */

const REST_MS = 60_000;
const KNOWN_MAX = 1_000;

/**
 * Returns a listener that logs refusals, at most once a minute for each hub, status and code, so that a hub that refuses every request does
 * not fill the log.
 */
function openHubRefusals(logger: Logger, clock: Clock): NonNullable<HubOptions['onRefusal']> {
  const logged_at_ms = new LRUCache<string, number>({ max: KNOWN_MAX });
  return ({ hub, status, code: hub_code, type: hub_type }) => {
    const name = JSON.stringify([hub, status, hub_code]);
    const now_ms = clock.now_ms();
    const last_ms = logged_at_ms.get(name);
    if (last_ms !== undefined && now_ms - last_ms < REST_MS) return;
    logged_at_ms.set(name, now_ms);
    logger.warn(
      { hub, status, hub_code, hub_type },
      'A hub refused a request. The refusal is not passed on to the caller; check the account and configuration of the hub.',
    );
  };
}

/** Metrics and counters of one gateway, and the listeners that update them. */
export interface Operations {
  readonly metrics: Metrics;
  readonly exposure: Exposure;
  readonly requests: Requests;
  readonly paid_calls: PaidCalls;
  readonly sockets: SocketTally;
  readonly precedence: Precedence;
  readonly onHubCallEnd: NonNullable<HubOptions['onCallEnd']>;
  readonly onHubRefusal: NonNullable<HubOptions['onRefusal']>;
  readonly recordDamaged: (damaged: DamagedRecord) => void;
  readonly roundEnded: (round: string, outcome: 'done' | 'failed') => void;
  readonly jobEnded: (task: string, outcome: 'done' | 'failed') => void;
  close(): void;
}

export function openOperations(exposure: Exposure, logger: Logger, clock: Clock): Operations {
  const metrics = new Metrics();
  const sockets = new SocketTally();
  const precedence = new Precedence();
  watchSockets(metrics, sockets);
  watchPrecedence(metrics, precedence);
  return {
    metrics,
    exposure,
    sockets,
    precedence,
    requests: new Requests(metrics, logger),
    paid_calls: new PaidCalls(metrics),
    onHubCallEnd(hub, reason, ms) {
      metrics.hubs.observe({ hub, outcome: reason === null ? 'answered' : 'failed' }, ms / 1e3);
      if (reason !== null) metrics.hubFailures.inc({ hub, reason });
    },
    onHubRefusal: openHubRefusals(logger, clock),
    recordDamaged(damaged) {
      metrics.damagedRecords.inc({ record: damaged.record });
      logger.error(
        damaged,
        'a stored record differs in `column` from what was signed and is not shown; restore the record with this id from a backup',
      );
    },
    roundEnded: (round, outcome) => metrics.rounds.inc({ round, outcome }),
    jobEnded(task, outcome) {
      metrics.jobs.inc({ task, outcome });
      metrics.jobEndings.set({ task, outcome }, systemClock.now_ms() / 1e3);
    },
    close: watchProcess(metrics),
  };
}
