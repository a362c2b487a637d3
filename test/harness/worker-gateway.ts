import { type Config, readConfig } from '../../gateway/config/read-config.ts';
import { type Development, startDevelopment } from '../../gateway/development/start.ts';
import { type Gateway, type GatewayOptions, openGateway } from '../../gateway/open.ts';
import { loggerOn } from '../../gateway/operations/logger.ts';
import { ownPort } from './own-port.ts';
import { atEnd } from './release.ts';
import { ownFolder } from './scratch.ts';

/** Most of what a service in a test costs Postgres is new sessions. One that holds a session while it waits for another shows early with so few. */
export const DATABASE_CONNECTIONS_MAX = '5';

export interface ServiceOptions {
  readonly data_dir?: string | undefined;
  readonly port?: number | undefined;
  /** Variables beyond these: DATABASE_URL, BASE_RPC_URL, HUBS, … */
  readonly environment: Readonly<Record<string, string>>;
  /** What no variable sets: faults, and how long it waits for others. */
  readonly options?: WorkerGatewayOptions | undefined;
}

export type WorkerGatewayOptions = Omit<GatewayOptions, 'logger'>;

export interface RunningService {
  readonly url: string;
  readonly data_dir: string;
  /** Every line of its log so far. */
  readonly logs: string[];
  /** What is under way comes to its end first. */
  stop(): Promise<unknown>;
}

/**
 * The service inside the test's own process, by the variables that an operator sets. A start costs 0.4 s of CPU here and
 * 2 s as a process: who has nothing to kill takes this one.
 */
export async function openWorkerService(given: ServiceOptions): Promise<RunningService> {
  const { gateway, development, ...running } = await openHere(given);
  const closed = once(() => gateway.close().then(() => development.stop()));
  atEnd(() => {
    // Whoever still listens to a stream is not waited for.
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
  /** Changes what the variables have come to. */
  readonly amend?: (config: Config) => Config;
}

/** The same, to be closed by whoever opens it: the gateway, then what it was developed on. */
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
  // Where it is reached, whatever BASE_URL calls it.
  return { gateway, development, url: `http://127.0.0.1:${port}`, data_dir, logs };
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | undefined;
  return () => {
    begun ??= work();
    return begun;
  };
}
