import { type Config, readConfig } from '../../gateway/config/read-config.ts';
import { type Development, startDevelopment } from '../../gateway/development/start.ts';
import { type Gateway, type GatewayOptions, openGateway } from '../../gateway/open.ts';
import { loggerOn } from '../../gateway/operations/logger.ts';
import { ownPort } from './own-port.ts';
import { atEnd } from './release.ts';
import { ownFolder } from './scratch.ts';

/**
 * So few connections that a request which holds one session while it waits for another soon fails. Opening sessions is also the largest
 * part of what a service in a test costs Postgres.
 */
export const DATABASE_CONNECTIONS_MAX = '5';

export interface ServiceOptions {
  readonly data_dir?: string | undefined;
  readonly port?: number | undefined;
  /** Additional variables, such as DATABASE_URL, BASE_RPC_URL and HUBS. */
  readonly environment: Readonly<Record<string, string>>;
  /** Options that no variable sets, such as faults and time-outs. */
  readonly options?: WorkerGatewayOptions | undefined;
}

export type WorkerGatewayOptions = Omit<GatewayOptions, 'logger'>;

export interface RunningService {
  readonly url: string;
  readonly data_dir: string;
  /** Every line of the service's log so far. */
  readonly logs: string[];
  /** Finishes the work in progress, then stops. */
  stop(): Promise<unknown>;
}

/**
 * The service within the test's process, with an operator's variables. A start costs 0.4 s of CPU here and 2 s as a process, so only tests
 * that kill it start a process.
 */
export async function openWorkerService(given: ServiceOptions): Promise<RunningService> {
  const { gateway, development, ...running } = await openHere(given);
  const closed = once(() => gateway.close().then(() => development.stop()));
  atEnd(() => {
    // So that the stop does not wait for clients that still read a stream.
    gateway.hurry();
    return closed();
  });
  return { ...running, stop: closed };
}

interface OpenedGateway extends Omit<RunningService, 'stop'> {
  readonly gateway: Gateway;
  readonly development: Development;
}

interface HereOptions extends ServiceOptions {
  /** Changes the configuration that was read from the variables. */
  readonly amend?: (config: Config) => Config;
}

/** The service within the test's process. The caller must close first the gateway and then its development stand-ins. */
export async function openHere({ environment, options, amend, ...given }: HereOptions): Promise<OpenedGateway> {
  const data_dir = given.data_dir ?? (await ownFolder());
  const port = String(given.port ?? (await ownPort()));
  const settings = readConfig({
    DATA_DIR: data_dir,
    PORT: port,
    SOLANA_RPC_URL: '',
    DATABASE_CONNECTIONS_MAX,
    ...environment,
  });
  const logs: string[] = [];
  const development = await startDevelopment(settings);
  const logger = loggerOn({ write: line => void logs.push(line.trimEnd()) }, settings.log_level);
  const config = amend?.(development.config) ?? development.config;
  const gateway = await openGateway(config, { ...options, logger }).catch(async error => {
    await development.stop();
    throw error;
  });
  // The address at which it listens, which BASE_URL need not name.
  return { gateway, development, url: `http://127.0.0.1:${port}`, data_dir, logs };
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | undefined;
  return () => {
    begun ??= work();
    return begun;
  };
}
