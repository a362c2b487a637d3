import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { sentenceOf } from '../../../gateway/operations/run.ts';
import { runCommand } from '../commands/run.ts';
import type { RunningGateway } from '../gateway.ts';
import { ROOT } from '../root.ts';
import type { Ground, StartOptions } from './ground.ts';

const run = promisify(execFile);

/** Runs the command by which an operator continues after a broken log. Returns its output. */
export async function acceptLogBreak(
  ground: Ground,
  reason: string,
  { url, environment }: { url?: string; environment?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  return runOperatorCommand(ground, 'accept-log-break', [reason], {
    ...(url && { url }),
    ...(environment && { environment }),
  });
}

/**
 * Runs an operator's command in this process. Returns its standard output. @throws its standard error if it exits with another code than 0
 */
export async function runOperatorCommand(
  ground: Ground,
  command: string,
  words: readonly string[],
  { url, environment }: Pick<StartOptions, 'url' | 'environment'> = {},
): Promise<string> {
  const given = { environment: { ...ground.environment(url ? { url } : {}), ...environment } };
  const { code, out, err } = await runCommand(`gateway/commands/${command}.ts`, words, given);
  if (code !== 0) throw new Error(err);
  return out;
}

/** Runs an operator's command as a process. Returns its standard output. @throws its standard error if it exits with another code than 0 */
export async function runOperatorProcess(
  ground: Ground,
  command: string,
  words: readonly string[],
  { url, environment }: Pick<StartOptions, 'url' | 'environment'> = {},
): Promise<string> {
  const env = { ...ground.environment(url ? { url } : {}), ...environment };
  const program = ['gateway/launch.js', `gateway/commands/${command}.ts`, ...words];
  const { stdout } = await run(process.execPath, program, { cwd: ROOT, env });
  return stdout;
}

/** Starts a service that must refuse to start. Returns the sentence that its operator reads. */
export async function refusalOf(ground: Ground, options: StartOptions = {}): Promise<string> {
  const fault: unknown = await ground.start(options).then(
    () => new Error('it came up'),
    refused => refused,
  );
  const sentence = sentenceOf(fault);
  if (sentence === null) throw fault;
  return sentence;
}

/** Starts a process that must refuse to start with exit code 1. Returns its output. */
export async function refusalOfProcess(ground: Ground, options: StartOptions = {}): Promise<string> {
  const refusing = await ground.startProcess({ ...options, await_health: false });
  const ended = await Promise.race([refusing.exited, cameUp(refusing)]);
  expect(ended, refusing.logs.join('\n')).toBe(1);
  return refusing.logs.join('\n');
}

/** Resolves if the process serves although it should have refused, because waiting for its exit would then never end. */
async function cameUp({ url, process: child }: RunningGateway): Promise<string> {
  while (child.exitCode === null && child.signalCode === null) {
    if (await fetch(`${url}/livez`).catch(() => null)) return 'it came up';
    await sleep(200);
  }
  return new Promise(() => {});
}

/** The answer of /.well-known/log-breaks.json. */
export async function publishedBreaks({ url }: { readonly url: string }): Promise<readonly Record<string, unknown>[]> {
  return (await fetch(`${url}/.well-known/log-breaks.json`)).json() as Promise<readonly Record<string, unknown>[]>;
}
