import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startBaseChain } from '../../gateway/development/chain/start.ts';
import { freePort } from '../../gateway/development/port.ts';
import { startPostgres } from '../../gateway/development/postgres/start.ts';
import { createDatabase, databaseUrl } from '../harness/global.ts';
import { idle_ms } from '../harness/idle.ts';
import { clearScratch, makeScratch, sweepScratch } from '../harness/scratch.ts';
import { prepareTemplate } from '../harness/template.ts';
import { type Child, type Start, startChild } from './child/child.ts';
import type { GatewayGiven, GatewayReady } from './servers/gateway.ts';
import type { HubReady } from './servers/hub.ts';
import type { Job, LedgerGiven, OpenedBook } from './servers/ledger.ts';

const TEMPLATE = 'bench_template';

/** Parts that contests share, such as one Postgres and one gateway with its book. Each is started at its first use and ended by `close`. */
export class Stage {
  readonly #closing = new AsyncDisposableStack();
  readonly #profile_dir: string | null;
  readonly #folder: string;
  #databases = 0;

  static async open(profile_dir: string | null): Promise<Stage> {
    await sweepScratch();
    return new Stage(await makeScratch(), profile_dir);
  }

  private constructor(folder: string, profile_dir: string | null) {
    this.#folder = folder;
    this.#profile_dir = profile_dir;
    this.#closing.adopt(folder, clearScratch);
  }

  close(): Promise<void> {
    return this.#closing.disposeAsync();
  }

  /** Starts a process. It is closed with the contest whose `closing` is given, otherwise with the stage. */
  async start<Ready>(start: Start, closing: AsyncDisposableStack = this.#closing): Promise<Child<Ready>> {
    return closing.adopt(await startChild<Ready>({ profile_dir: this.#profile_dir, ...start }), child => child.stop());
  }

  readonly #cluster = lazily(async () => {
    const { url } = await startPostgres(this.#folder, idle_ms);
    await createDatabase(url, TEMPLATE);
    await prepareTemplate(databaseUrl(url, TEMPLATE));
    return url;
  });

  /** An empty database with all tables. */
  async database(): Promise<string> {
    const cluster_url = await this.#cluster();
    const name = `bench_${this.#databases++}`;
    await createDatabase(cluster_url, name, TEMPLATE);
    return databaseUrl(cluster_url, name);
  }

  /** A Base stand-in with real USDC and a block every two seconds. */
  readonly chain = lazily(() => startBaseChain(this.#folder, { save_seconds: null, idle_ms }));

  readonly gateway_database = lazily(() => this.database());

  /** The service, with a chain and a hub that it does not call. */
  readonly gateway = lazily(() => this.startGateway({}));

  /** Starts a further process of the same service. */
  async startGateway(variables: GatewayGiven, closing?: AsyncDisposableStack): Promise<Child<GatewayReady>> {
    const data_dir = join(this.#folder, 'gateway');
    await mkdir(data_dir, { recursive: true });
    const given: GatewayGiven = {
      DATA_DIR: data_dir,
      PORT: String(await freePort()),
      DATABASE_URL: await this.gateway_database(),
      BASE_RPC_URL: 'http://127.0.0.1:1',
      ISSUER_KEYS: ISSUER_KEY,
      HUBS: JSON.stringify([
        { name: 'bench', base_url: 'http://127.0.0.1:1/v1', api_key: 'bench', models: ['bench/small'] },
      ]),
      ...variables,
    };
    return this.start<GatewayReady>({ file: 'gateway', given }, closing);
  }

  /** A hub that answers at once. */
  readonly hub = lazily(() => this.start<HubReady>({ file: 'hub' }));

  /** The service in front of that hub, with a chain that it does not call. */
  readonly proxy = lazily(async () => {
    const { ready } = await this.hub();
    const hub = { name: 'bench', base_url: ready.base_url, api_key: 'bench', models: ['bench/small'] };
    return this.startGateway({ HUBS: JSON.stringify([hub]), HUBS_ARE: 'asked', API_KEYS: LIVE_KEY });
  });

  /** A process that writes books and the log as the service does, in any of the databases. */
  readonly ledger = lazily(() =>
    this.start({ file: 'ledger', given: { issuer_key: ISSUER_KEY } satisfies LedgerGiven }),
  );

  /** A registered agent with an empty book. */
  async emptyBook(database_url: string): Promise<OpenedBook> {
    return (await this.ledger()).ask<OpenedBook>('openBook', database_url);
  }

  /** A book of the gateway with more rows than a page shows. */
  readonly book = lazily(async () => {
    const ledger = await this.ledger();
    const book = await this.emptyBook(await this.gateway_database());
    const job: Job = { book, count: 200 };
    await ledger.ask('prepare', job);
    await ledger.ask('append', job);
    return book;
  });
}

/** API key by which calls of the proxy need no payment. */
export const LIVE_KEY = 'bench-live-key';
const ISSUER_KEY = '11'.repeat(32);

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
