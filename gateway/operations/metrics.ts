import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { ServerOptions } from 'graphql-ws';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { problem } from '../../rest-compat/problem.ts';
import { sameSecret } from '../../schema/digest.ts';

/* The counters and gauges of this gateway, in the format of Prometheus. */

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const ITEMS = [1, 2, 4, 8, 16, 32, 64];

/** What is seen at the moment of a scrape, by the values of its labels; empty where it cannot be known just now. */
type Samples<L extends string> = readonly (readonly [labels: Readonly<Record<L, string>>, value: number])[];

/**
 * What this gateway counts of itself, in a registry of its own. A label has values that are known beforehand (doors,
 * steps, codes, hubs), never what a caller sends.
 */
export class Metrics {
  readonly #registry = new Registry();

  readonly requests = this.#seconds('svc_http_request', 'Requests, from the first byte to the last', [
    'door',
    'method',
    'status',
  ]);
  readonly steps = this.#seconds('svc_paid_step', 'Steps of paid calls', ['field', 'step']);
  readonly paidCalls = this.#counter(
    'svc_paid_calls',
    'Paid calls by how they came out: a settlement status, or the code',
    ['field', 'outcome'],
  );
  readonly batchItems = this.#histogram('svc_commit_batch_items', 'Callers who shared a commit', ITEMS, ['queue']);
  readonly commits = this.#seconds('svc_commit', 'Shared commits', ['queue']);
  readonly hubs = this.#seconds('svc_hub_request', 'Questions to a hub until it answered, or began to', [
    'hub',
    'outcome',
  ]);
  readonly hubFailures = this.#counter('svc_hub_failures', 'Questions that a hub did not answer', ['hub', 'reason']);
  readonly damagedRecords = this.#counter(
    'svc_damaged_records',
    'Reads of receipts and refusals that do not stand as they were signed: none is shown',
    ['record'],
  );
  readonly rounds = this.#counter('svc_reconcile_rounds', 'Rounds of reconcile', ['round', 'outcome']);
  readonly webhooks = this.#counter('svc_webhook_messages', 'Messages to webhooks by what became of them', ['outcome']);
  readonly jobs = this.#counter('svc_jobs', 'Runs of jobs in this process', ['task', 'outcome']);
  readonly jobEndings = new Gauge({
    name: 'svc_job_ended_timestamp_seconds',
    help: 'When the last run of each in this process ended so: the later of the two is how it is now',
    labelNames: ['task', 'outcome'],
    registers: [this.#registry],
  });

  /** A gauge that is read when somebody scrapes, and costs nothing otherwise. */
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
        // What cannot be known is no zero.
        if (labelNames.length === 0) this.remove();
        for (const [labels, value] of seen) this.set(labels, value);
      },
    });
  }

  /** The same for what only grows. */
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

  /** In the text format of Prometheus, version 0.0.4. */
  exposed(): Promise<string> {
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

/** A scrape does not wait for a database that is away; what only that knows is left out of it. */
export const SCRAPE_MS_MAX = 1_000;

/** Null where it fails, or takes too long. */
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

/** Who may read the metrics: whoever shows the token; without one anybody in development, and nobody else. */
export interface Exposure {
  readonly token: string | null;
  readonly profile: 'development' | 'production';
}

/** Serves GET /metrics. To others it answers as any path does that is not there. */
export function exposeMetrics(app: FastifyInstance, metrics: Metrics, exposure: Exposure): void {
  app.get('/metrics', async (request, reply) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    if (mayRead(exposure, request.headers.authorization))
      return reply.type(metrics.media).send(await metrics.exposed());
    const { status, headers, body } = problem({ code: 'not_found' });
    return reply.code(status).headers(headers).send(body);
  });
}

export function mayRead({ token, profile }: Exposure, authorization: string | undefined): boolean {
  if (token === null) return profile === 'development';
  const [, shown = ''] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  return sameSecret(shown, token);
}

type Dropped = 'slow' | 'flood';

/** What the sockets of a gateway do, in plain numbers: to count a delivery must cost nothing beside it. */
export class SocketTally {
  deliveries = 0;
  readonly dropped: Record<Dropped, number> = { slow: 0, flood: 0 };
  readonly #open = new Set<{ readonly subscriptions: object }>();

  get open(): number {
    return this.#open.size;
  }

  get operations(): number {
    let operations = 0;
    for (const { subscriptions } of this.#open) operations += Object.keys(subscriptions).length;
    return operations;
  }

  /** The same protocol, counted: sockets from their acknowledgement on, and what graphql-ws sends by itself. */
  counted<P extends Record<string, unknown> | undefined, E>(protocol: ServerOptions<P, E>): ServerOptions<P, E> {
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
