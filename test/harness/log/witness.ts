import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { runCommand } from '../commands/run.ts';
import { withParentDeathSignal } from '../parent-death-signal.ts';
import { atEnd } from '../release.ts';
import { ROOT } from '../root.ts';

const ENTRY = 'gateway/commands/witness.ts';

/** A witness that runs as a separate process, like an operator's. */
export interface RunningWitness {
  /** URL for submissions. */
  readonly url: string;
  readonly verifier_key: string;
  readonly lines: readonly string[];
  /** Sends the signal. Resolves once the process has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
}

function witnessProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): { readonly child: ChildProcess; readonly lines: string[] } {
  const command = ['gateway/launch.js', ENTRY, ...args];
  const child = spawn(...withParentDeathSignal(process.execPath, command), {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  atEnd(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', line => lines.push(line));
  return { child, lines };
}

/** Runs a witness that checks a log once. */
export async function lookOnce(
  url: string,
  state: string,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly text: string }> {
  return runCommand(ENTRY, [url, '--state', state, '--once', ...args]);
}

/** Checks a log once as a process, with the default state folder in HOME. */
export async function lookFromHome(
  url: string,
  home: string,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly text: string }> {
  const { child, lines } = witnessProcess([url, '--once', ...args], { HOME: home });
  const [code] = await once(child, 'close');
  return { code: code as number, text: lines.join('\n') };
}

/** Runs a monitor that checks once what a wallet has paid for. */
export async function monitorOnce(
  url: string,
  state: string,
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly text: string }> {
  return runCommand(ENTRY, [url, '--state', state, ...args], { environment });
}

/** Starts a witness that serves until it is ended. */
export async function startWitness(url: string, state: string, ...args: readonly string[]): Promise<RunningWitness> {
  const { child, lines } = witnessProcess([url, '--state', state, '--every', '1', ...args]);
  const gone = once(child, 'exit');
  const found = (pattern: RegExp) => lines.map(line => pattern.exec(line)?.[1]).find(it => it !== undefined);
  const serving = /^Serving add-checkpoint on (.+)$/;
  while (found(serving) === undefined) {
    const ended = await Promise.race([gone, new Promise(resolve => setTimeout(resolve, 20))]);
    if (ended) throw new Error(`the witness ended:\n${lines.join('\n')}`);
  }
  return {
    url: found(serving) ?? '',
    verifier_key: found(/^Witness: (.+)$/) ?? '',
    lines,
    async end(signal) {
      child.kill(signal);
      await gone;
    },
  };
}
