import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { ServerOptions } from 'graphql-ws';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { problem } from '../../rest-compat/problem.ts';
import { sameSecret } from '../../schema/digest.ts';

/* Counters and gauges of one gateway, in the format of Prometheus. */

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const ITEMS = [1, 2, 4, 8, 16, 32, 64];

/** Values at the moment of a scrape, by label. Empty if they are unknown now. */
type Samples<L extends string> = readonly (readonly [labels: Readonly<Record<L, string>>, value: number])[];

/**
 * The metrics of one gateway, in a separate registry. Values of labels (endpoints, steps, codes, hubs) are known beforehand and never
 * chosen by a caller, so that their number stays limited.
 */
export class Metrics {
  readonly #registry = new Registry();

  readonly requests = this.#seconds('svc_http_request', 'HTTP requests, from the first byte to the last', [
    'door',
    'method',
    'status',
  ]);
  readonly steps = this.#seconds('svc_paid_step', 'Duration of each step of paid calls', ['field', 'step']);
  readonly paidCalls = this.#counter('svc_paid_calls', 'Paid calls by outcome: settlement status or error code', [
    'field',
    'outcome',
  ]);
  readonly batchItems = this.#histogram('svc_commit_batch_items', 'Number of calls in one database commit', ITEMS, [
    'queue',
  ]);
  readonly commits = this.#seconds('svc_commit', 'Duration of database commits for several calls', ['queue']);
  readonly hubs = this.#seconds('svc_hub_request', 'Requests to hubs, until the response or its first byte', [
    'hub',
    'outcome',
  ]);
  readonly hubFailures = this.#counter('svc_hub_failures', 'Requests to hubs that failed', ['hub', 'reason']);
  readonly damagedRecords = this.#counter(
    'svc_damaged_records',
    'Reads of stored receipts and refusals that differ from their signed hash and are not shown',
    ['record'],
  );
  readonly rounds = this.#counter('svc_reconcile_rounds', 'Rounds of reconcile', ['round', 'outcome']);
  readonly webhooks = this.#counter('svc_webhook_messages', 'Webhook messages by outcome', ['outcome']);
  readonly jobs = this.#counter('svc_jobs', 'Runs of jobs in this process', ['task', 'outcome']);
  readonly jobEndings = new Gauge({
    name: 'svc_job_ended_timestamp_seconds',
    help: 'Unix time of the last run with this outcome in this process; the later outcome is the current state',
    labelNames: ['task', 'outcome'],
    registers: [this.#registry],
  });

  /** Registers a gauge whose value is read at each scrape. */
  watch<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    look: () => Samples<L> | Promise<Samples<L>>,
  ): void {
    new Gauge<L>({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      async collect() {
        const seen = await look();
        this.reset();
        // An unknown value is left out, because it is not zero.
        if (labelNames.length === 0) this.remove();
        for (const [labels, value] of seen) this.set(labels, value);
      },
    });
  }

  /** Registers a counter whose value is read at each scrape. */
  watchTotal<L extends string>(name: string, help: string, labelNames: readonly L[], look: () => Samples<L>): void {
    new Counter<L>({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [labels, value] of look()) this.inc(labels, value);
      },
    });
  }

  get media(): string {
    return this.#registry.contentType;
  }

  /** All metrics in the text format of Prometheus, version 0.0.4. */
  exposition(): Promise<string> {
    return this.#registry.metrics();
  }

  #seconds<L extends string>(name: string, help: string, labelNames: readonly L[]): Histogram<L> {
    return this.#histogram(`${name}_seconds`, help, SECONDS, labelNames);
  }

  #histogram<L extends string>(name: string, help: string, buckets: number[], labelNames: readonly L[]): Histogram<L> {
    return new Histogram({ name, help, buckets, labelNames, registers: [this.#registry] });
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name: `${name}_total`, help, labelNames, registers: [this.#registry] });
  }
}

/** Time limit of each value that needs the database. A scrape does not wait for an unavailable database, and leaves such values out. */
export const SCRAPE_MS_MAX = 1_000;

/** Result of a read. Null if it fails or takes longer than `ms_max`. */
export async function lookInTime<T>(look: Promise<T>, ms_max: number): Promise<T | null> {
  const seen = new AbortController();
  const late = sleep(ms_max, null, { signal: seen.signal });
  try {
    return await Promise.race([look.catch(() => null), late]);
  } finally {
    seen.abort();
    late.catch(() => {});
  }
}

/**
 * Who may read the metrics: clients with the token. If no token is configured, everyone may in development, and no client may in
 * production.
 */
export interface Exposure {
  readonly token: string | null;
  readonly profile: 'development' | 'production';
}

/** Serves GET /metrics. Without access, the response is the same as for a path that does not exist. */
export function exposeMetrics(app: FastifyInstance, metrics: Metrics, exposure: Exposure): void {
  app.get('/metrics', async (request, reply) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    if (mayRead(exposure, request.headers.authorization))
      return reply.type(metrics.media).send(await metrics.exposition());
    const { status, headers, body } = problem({ code: 'not_found' });
    return reply.code(status).headers(headers).send(body);
  });
}

export function mayRead({ token, profile }: Exposure, authorization: string | undefined): boolean {
  if (token === null) return profile === 'development';
  const [, shown = ''] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  return sameSecret(shown, token);
}

type DropReason = 'slow' | 'flood';

/**
 * Counts what the sockets of a gateway do. The counts are plain numbers, because counting must cost almost nothing compared with a
 * delivery.
 */
export class SocketTally {
  deliveries = 0;
  readonly dropped: Record<DropReason, number> = { slow: 0, flood: 0 };
  readonly #open = new Set<{ readonly subscriptions: object }>();

  get open(): number {
    return this.#open.size;
  }

  get operations(): number {
    let operations = 0;
    for (const { subscriptions } of this.#open) operations += Object.keys(subscriptions).length;
    return operations;
  }

  /** Adds counters to the options of a protocol. A socket counts from its acknowledgement on, and a message if graphql-ws sends it. */
  countSockets<P extends Record<string, unknown> | undefined, E>(protocol: ServerOptions<P, E>): ServerOptions<P, E> {
    return {
      ...protocol,
      onConnect: context => {
        this.#open.add(context);
        return protocol.onConnect?.(context);
      },
      onClose: (context, ...why) => {
        this.#open.delete(context);
        return protocol.onClose?.(context, ...why);
      },
      onNext: (...sent) => {
        this.deliveries++;
        return protocol.onNext?.(...sent);
      },
    };
  }
}
