import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { idle_ms } from '../../harness/idle.ts';
import type { Measured } from '../contest.ts';

/** The launcher of the service. */
const LAUNCH = join(import.meta.dirname, '..', '..', '..', 'gateway', 'launch.js');
const READY_MS = 60_000;
const END_MS = 10_000;

/** Variables of both sides: production mode, and no telemetry of Apollo. */
const ENVIRONMENT = { PATH: process.env.PATH, NODE_ENV: 'production', APOLLO_TELEMETRY_DISABLED: 'true' };

/** A process of the bench. Every server runs in a separate one, so that the CPU time of the load is not counted as the server's. */
export interface Child<Ready = unknown> {
  readonly ready: Ready;
  /** Runs one of its tasks. @throws if the task fails or the process ends */
  ask<T = void>(task: string, argument?: unknown): Promise<T>;
  stop(): Promise<void>;
}

export interface Start {
  /** Name of a file in servers/, without its ending. */
  readonly file: string;
  readonly given?: object;
  /** Folder for the CPU profile of the process. */
  readonly profile_dir?: string | null;
}

/** Starts a child that ends together with this process. @throws if it does not start */
export async function startChild<Ready>({ file, given = {}, profile_dir }: Start): Promise<Child<Ready>> {
  const entry = join(import.meta.dirname, '..', 'servers', `${file}.ts`);
  const child = fork(LAUNCH, [entry, JSON.stringify(given)], {
    execArgv: profile_dir ? ['--cpu-prof', `--cpu-prof-dir=${profile_dir}`] : [],
    env: { ...ENVIRONMENT, STAND_IN_IDLE_MS: String(idle_ms) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const gone = once(child, 'exit').then(([code, signal]): never => {
    throw new Error(`${file} ended with ${code ?? signal}`);
  });
  gone.catch(() => {});
  const impatience = setTimeout(() => child.kill('SIGKILL'), READY_MS);
  const [{ ready }] = (await Promise.race([once(child, 'message'), gone])) as [{ ready: Ready }];
  clearTimeout(impatience);
  return { ready, ask: asking(child, gone), stop: () => end(child) };
}

type ChildReply = { readonly id: number } & ({ readonly result: unknown } | { readonly fault: string });

function asking(child: ChildProcess, gone: Promise<never>): Child['ask'] {
  const waiting = new Map<number, (told: ChildReply) => void>();
  child.on('message', (told: ChildReply) => waiting.get(told.id)?.(told));
  let asked = 0;
  return async <T>(task: string, argument?: unknown) => {
    const id = asked++;
    const told = new Promise<ChildReply>(resolve => waiting.set(id, resolve));
    // A failure to send needs no handling, because `gone` reports that the process has ended.
    child.send({ id, task, argument }, () => {});
    const answered = await Promise.race([told, gone]);
    waiting.delete(id);
    if ('fault' in answered) throw new Error(answered.fault);
    return answered.result as T;
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  const impatience = setTimeout(() => child.kill('SIGKILL'), END_MS);
  await ended;
  clearTimeout(impatience);
}

async function cpuOf(children: readonly Child[]): Promise<number> {
  const used = await Promise.all(children.map(child => child.ask<NodeJS.CpuUsage>('cpu')));
  return used.reduce((sum, { user, system }) => sum + user + system, 0);
}

/** Measures `work`, which returns the number of its operations: time, and CPU time of these processes. */
export async function measured(servers: readonly Child[], work: () => Promise<number>): Promise<Measured> {
  const before_us = await cpuOf(servers);
  const began_ms = performance.now();
  const operations = await work();
  const seconds = (performance.now() - began_ms) / 1000;
  return { operations, seconds, cpu_us: (await cpuOf(servers)) - before_us, counts: {} };
}
