import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { markReady } from '../cost/marks.ts';
import { ownPort } from './own-port.ts';
import { withParentDeathSignal } from './parent-death-signal.ts';
import { atEnd } from './release.ts';
import { ROOT } from './root.ts';
import { ownFolder } from './scratch.ts';
import { DATABASE_CONNECTIONS_MAX, type RunningService } from './worker-gateway.ts';

/**
 * Shorter than the suite's time-out, so that a failure shows the log. It includes the time to build a program, which the first test that
 * needs it does.
 */
const READY_MS = 220_000;

export interface GatewayOptions {
  readonly data_dir?: string;
  readonly port?: number;
  /** Root of another installation than the one under test. */
  readonly root?: string;
  /** A main in place of the service's, as a path from the root of the project. mains.ts lists those of the tests. */
  readonly entry?: string;
  /** Arguments of the main. */
  readonly args?: readonly string[];
  /** An operator's npm command in place of `entry` and `args`, such as `start` or `run subgraph -- receipt`. */
  readonly npm?: readonly string[];
  /** Additional variables, such as DATABASE_URL, BASE_RPC_URL and HUBS. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether it may start a development Solana, which is one more process. */
  readonly solana?: boolean;
  /** If false, `startGateway` returns as soon as the process runs. That is needed for a start that must fail. */
  readonly await_health?: boolean;
}

export interface RunningGateway extends RunningService {
  readonly process: ChildProcess;
  /** Resolves with the exit code, or null if a signal ended it. */
  readonly exited: Promise<number | null>;
  kill(signal: NodeJS.Signals): Promise<number | null>;
  /** Sends the signal to all processes of the group at once, as a terminal does. */
  killAll(signal: NodeJS.Signals): Promise<number | null>;
  stop(): Promise<number | null>;
}

/** Starts the service as an operator does: as a separate process that gets only these variables. */
export async function startGateway(options: GatewayOptions = {}): Promise<RunningGateway> {
  const data_dir = options.data_dir ?? (await ownFolder());
  const port = options.port ?? (await ownPort());
  const environment = {
    PATH: process.env.PATH,
    HOME: data_dir,
    DATA_DIR: data_dir,
    PORT: String(port),
    DATABASE_CONNECTIONS_MAX,
    ...(options.solana ? {} : { SOLANA_RPC_URL: '' }),
    ...options.environment,
  };
  const [command, ...args] = commandOf(options);
  const grouped = options.npm !== undefined;
  const child = spawn(...withParentDeathSignal(command, args), {
    cwd: options.root ?? ROOT,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    // In a separate process group, so that all of npm's processes can be ended together.
    detached: grouped,
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const kill = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  const killAll = (signal: NodeJS.Signals) => {
    killGroup(child, signal);
    return exited;
  };
  atEnd(() => (grouped ? killAll : kill)('SIGKILL'));
  const gateway = {
    url: `http://127.0.0.1:${port}`,
    data_dir,
    process: child,
    logs: linesOf(child),
    exited,
    kill,
    killAll,
    stop: () => kill('SIGTERM'),
  };
  if (options.await_health !== false) await awaitHealth(gateway);
  return gateway;
}

function commandOf({ npm, entry = 'gateway/main.ts', args = [] }: GatewayOptions): [string, ...string[]] {
  if (npm !== undefined) return [npmCommand(), ...npm];
  return [process.execPath, ...programOf(entry), ...args];
}

/** Node's arguments for a main. mains.ts lists those of the tests. */
export function programOf(entry: string): readonly string[] {
  const program = entry.startsWith('test/') ? ['test/harness/mains.ts', entry] : [entry];
  return ['gateway/launch.js', ...program];
}

/** The npm that was installed with Node, or else the one on the PATH. */
function npmCommand(): string {
  const beside = join(dirname(process.execPath), 'npm');
  return existsSync(beside) ? beside : 'npm';
}

/** Signals a whole process group, because its leader may have ended before the other processes. */
function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // No process of the group is left.
  }
}

function linesOf(child: ChildProcess): string[] {
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface(stream).on('line', line => lines.push(line));
  }
  return lines;
}

async function awaitHealth({
  url,
  process: child,
  logs,
}: Pick<RunningGateway, 'url' | 'process' | 'logs'>): Promise<void> {
  const deadline_ms = Date.now() + READY_MS;
  while (child.exitCode === null && child.signalCode === null && Date.now() < deadline_ms) {
    const response = await fetch(`${url}/health`).catch(() => null);
    await response?.body?.cancel();
    if (response?.ok) return markReady(child.pid);
    await sleep(25);
  }
  throw new Error(`the gateway did not come up:\n${logs.slice(-40).join('\n')}`);
}
