import type { Logger } from 'pino';
import { type Clock, systemClock } from '../../subgraphs/clock.ts';
import { type DamagedRecord } from '../../subgraphs/receipt/damaged-record.ts';
import { type HubOptions } from '../../subgraphs/receipt/inference/hubs/open.ts';
import type { Exposure } from './exposure.ts';
import { openHubRefusals } from './hub-refusals.ts';
import { Metrics } from './metrics.ts';
import { PaidCalls } from './paid-calls.ts';
import { watchProcess } from './process-figures.ts';
import { Requests } from './requests.ts';
import { SocketTally } from './socket-tally.ts';
import { watchSockets } from './watch.ts';

/* Opens what an operator sees of one gateway: its metrics, its requests, its paid calls, its sockets. */

/** What an operator sees of one gateway. */
export interface Operations {
  readonly metrics: Metrics;
  readonly exposure: Exposure;
  readonly requests: Requests;
  readonly paid_calls: PaidCalls;
  readonly sockets: SocketTally;
  readonly hubHeard: NonNullable<HubOptions['heard']>;
  readonly hubRefused: NonNullable<HubOptions['refused']>;
  readonly recordDamaged: (damaged: DamagedRecord) => void;
  readonly roundEnded: (round: string, outcome: 'done' | 'failed') => void;
  readonly jobEnded: (task: string, outcome: 'done' | 'failed') => void;
  close(): void;
}

export function openOperations(exposure: Exposure, logger: Logger, clock: Clock): Operations {
  const metrics = new Metrics();
  const sockets = new SocketTally();
  watchSockets(metrics, sockets);
  return {
    metrics,
    exposure,
    sockets,
    requests: new Requests(metrics, logger),
    paid_calls: new PaidCalls(metrics),
    hubHeard(hub, reason, ms) {
      metrics.hubs.observe({ hub, outcome: reason === null ? 'answered' : 'failed' }, ms / 1e3);
      if (reason !== null) metrics.hubFailures.inc({ hub, reason });
    },
    hubRefused: openHubRefusals(logger, clock),
    recordDamaged(damaged) {
      metrics.damagedRecords.inc({ record: damaged.record });
      logger.error(damaged, 'a record does not stand as it was signed: it is not shown');
    },
    roundEnded: (round, outcome) => metrics.rounds.inc({ round, outcome }),
    jobEnded(task, outcome) {
      metrics.jobs.inc({ task, outcome });
      metrics.jobEndings.set({ task, outcome }, systemClock.now_ms() / 1e3);
    },
    close: watchProcess(metrics),
  };
}
