import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { RunningGateway } from '../harness/gateway.ts';
import { ROOT } from '../harness/root.ts';
import type { Ground, StartOptions } from './ground.ts';

const run = promisify(execFile);

/** The operator's one way on from a broken log; what the command printed. */
export async function acceptLogBreak(
  ground: Ground,
  reason: string,
  { url, environment }: { url?: string; environment?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const env = { ...ground.environment(url ? { url } : {}), ...environment };
  const options = { cwd: ROOT, env };
  const { stdout } = await run('npm', ['run', '-s', 'accept-log-break', '--', reason], options);
  return stdout;
}

/** Starts a process that must not come up; what it said. */
export async function refusalOf(ground: Ground, options: StartOptions = {}): Promise<string> {
  const refusing = await ground.startProcess({ ...options, await_health: false });
  const ended = await Promise.race([refusing.exited, cameUp(refusing)]);
  expect(ended, refusing.logs.join('\n')).toBe(1);
  return refusing.logs.join('\n');
}

/** Resolves where it serves all the same: to wait for its end would be to wait for ever. */
async function cameUp({ url, process: child }: RunningGateway): Promise<string> {
  while (child.exitCode === null && child.signalCode === null) {
    if (await fetch(`${url}/livez`).catch(() => null)) return 'it came up';
    await sleep(200);
  }
  return new Promise(() => {});
}

/** What is published at /.well-known/log-breaks.json. */
export async function publishedBreaks({ url }: { readonly url: string }): Promise<readonly Record<string, unknown>[]> {
  return (await fetch(`${url}/.well-known/log-breaks.json`)).json() as Promise<readonly Record<string, unknown>[]>;
}
