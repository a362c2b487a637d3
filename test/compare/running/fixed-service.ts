import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { getAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { developmentBuyers, developmentFacilitators } from '../../../gateway/development/chain/accounts.ts';
import { openBase } from '../../../gateway/rails/base/open-base.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { JOBS_SCHEMA } from '../../../subgraphs/migrate-jobs.ts';
import { startRouter } from '../../harness/doors/router.ts';
import { administer, createDatabase, databaseUrl, TEMPLATE } from '../../harness/global.ts';
import { startTestHub } from '../../harness/hub.ts';
import { openTransferSource } from '../../harness/ingest/transfer-source.ts';
import { atEnd } from '../../harness/release.ts';
import { ownFolder } from '../../harness/scratch.ts';
import { setAudience } from '../../harness/signing-audience.ts';
import { openWorkerService } from '../../harness/worker-gateway.ts';
import { openFixedChain } from './fixed-chain.ts';
import { BEGINS_MS, beginStep, beginStory, redirectPort, storyNow } from './fixed-time.ts';

export const BASE_URL = 'https://gateway.example';
/** Key of the vault, which also opens the texts that the service has sealed. */
export const SEAL_KEY = 'a seal key of the comparison alone, long enough';
export const secrets = {
  live_key: 'a-live-key',
  waiver_key: 'a-waiver-key',
  ops: `ops-${'f'.repeat(48)}`,
  inbound: `inbound-${'7'.repeat(32)}`,
} as const;

export type FixedService = Awaited<ReturnType<typeof openFixedService>>;

/** Development wallets, whose keys are publicly known. */
export const wallets = developmentBuyers.map(({ private_key }) => privateKeyToAccount(private_key));
export type Account = (typeof wallets)[number];

/** A gateway with its own Postgres and Base, all of whose inputs are the same in every run. */
export async function openFixedService(cluster_url: string, name: string) {
  beginStory();
  const database = `compare_${name}`;
  await createDatabase(cluster_url, database, TEMPLATE);
  const database_url = databaseUrl(cluster_url, database);
  await administer(database_url, storyClock(database));
  const chain = await openFixedChain(await ownFolder());
  atEnd(chain.close);
  const hub = await startTestHub({
    name: 'alpha',
    models: ['alpha-1', 'alpha-2'],
    image_models: ['alpha-image'],
    audio_models: ['alpha-audio'],
    embedding_models: ['alpha-embedding'],
  });
  const router = await startRouter();
  router.answerWithCost({ model: 'some/model', cost: '0.00125' });
  redirectPort(TOLD_PORTS.router, Number(new URL(router.base_url).port));
  const receiver = await startReceiver();
  const world = openTransferSource();
  const polled = { block: -1 };
  const gateway = await openWorkerService({
    environment: {
      NODE_ENV: 'test',
      BASE_URL,
      DATABASE_URL: database_url,
      BASE_RPC_URL: chain.url,
      FACILITATOR_KEYS: developmentFacilitators
        .slice(0, 1)
        .map(({ private_key }) => private_key)
        .join(),
      PAY_TO_BASE: getAddress(`0x${'c0ffee'.padStart(40, '0')}`),
      HUBS: JSON.stringify([hub.config]),
      ROUTER_URL: `http://127.0.0.1:${TOLD_PORTS.router}/api/v1`,
      ISSUER_KEYS: sha256Hex('issuer of the comparison'),
      SEAL_KEY,
      SUBGRAPH_SECRET: sha256Hex('subgraphs of the comparison'),
      API_KEYS: secrets.live_key,
      DEMO_KEYS: 'a-demo-key',
      WAIVER_KEYS: secrets.waiver_key,
      BOARD_OPS_SECRET: secrets.ops,
      BOARD_INBOUND_SECRET: secrets.inbound,
      LOG_ENTRIES: 'public',
      LOG_LEVEL: 'warn',
      RATE_FREE: '100000/1',
    },
    options: {
      transfers: world.transfers,
      openChain: settings => {
        const base = openBase(settings);
        return {
          ...base,
          async block(tag) {
            const answer = await base.block(tag);
            if (tag === 'latest' && answer.kind === 'ok') polled.block = answer.value?.number ?? -1;
            return answer;
          },
        };
      },
    },
  });
  setAudience(BASE_URL);
  const ledger = new pg.Pool({ connectionString: database_url, max: 2 });
  atEnd(() => ledger.end());
  const query = async <T extends pg.QueryResultRow>(statement: string, values: unknown[] = []) =>
    (await ledger.query<T>(statement, values)).rows;
  const settled = async () => {
    for (let quiet = 0; quiet < 2; ) {
      const [found] = await query<{ due: number }>(DUE);
      quiet = found?.due === 0 ? quiet + 1 : 0;
      await sleep(found?.due === 0 ? 5 : 10);
    }
  };
  // Periodic jobs run once at the start, and later when the story's time reaches their next run.
  while ((await query(`select from ${JOBS_SCHEMA}._private_jobs limit 1`)).length === 0) await sleep(10);
  await settled();
  return {
    gateway,
    chain,
    world,
    receiver,
    query,
    /** Lets earlier work finish, then moves the time of the process, the database and the chain forward by one step. */
    async step(label: string): Promise<void> {
      await settled();
      const at_ms = beginStep(label);
      await query('update story_clock set at = $1', [new Date(at_ms)]);
      await chain.tell(at_ms);
      // Jobs that the new time makes due must run before the call and not during it.
      await settled();
    },
    settled,
    /** Resolves once the service has read the newest block, because a signed refusal names the newest block that was read. */
    async heardOfBlock(): Promise<void> {
      polled.block = -1;
      const height = await chain.height();
      while (polled.block < height) await sleep(50);
      await sleep(20);
    },
    now: storyNow,
  };
}

/** Counts the jobs that are due or running. */
const DUE = `select count(*)::int as due from ${JOBS_SCHEMA}._private_jobs where attempts < max_attempts
  and (locked_at is not null or run_at <= now())`;

/** Creates functions for the current time in `public`, where the search path finds them first. They read the time from a table. */
function storyClock(database: string): string {
  const clocks = {
    now: 'stable',
    transaction_timestamp: 'stable',
    statement_timestamp: 'stable',
    clock_timestamp: 'volatile',
  };
  const told = Object.entries(clocks).map(
    ([clock, volatility]) =>
      `create function public.${clock}() returns timestamptz language sql ${volatility} as 'select at from public.story_clock'`,
  );
  return [
    'create table public.story_clock (at timestamptz not null)',
    `insert into public.story_clock values ('${new Date(BEGINS_MS).toISOString()}')`,
    ...told,
    `alter database ${database} set search_path = public, pg_catalog`,
  ].join('; ');
}

export interface DeliveredMessage {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Ports that appear in the record. No process listens on them; `redirectPort` connects them to the real ones. */
const TOLD_PORTS = { router: 1_801, receiver: 1_802 } as const;

/** Headers of a message except those of its connection. */
const TELLING = /^(webhook-|x-svc-|content-type$|user-agent$)/;

/** A receiver that accepts every webhook. */
async function startReceiver() {
  const delivered: DeliveredMessage[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const headers = Object.entries(request.headers as Record<string, string>).filter(([name]) => TELLING.test(name));
    delivered.push({ path: request.url ?? '', headers: Object.fromEntries(headers), body });
    response.writeHead(200).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  redirectPort(TOLD_PORTS.receiver, (server.address() as AddressInfo).port);
  return { url: `http://127.0.0.1:${TOLD_PORTS.receiver}`, delivered };
}
