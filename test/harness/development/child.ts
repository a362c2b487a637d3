import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { programOf } from '../gateway.ts';
import { withParentDeathSignal } from '../parent-death-signal.ts';
import { atEnd } from '../release.ts';
import { ROOT } from '../root.ts';

export interface ProgramChild<T> {
  /** The first line that the program printed. */
  readonly first_line: T;
  readonly process: ChildProcess;
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Runs a main of the tests (mains.ts) in a separate process. Resolves with its first line, which is JSON. */
export async function runChild<T>(main: string, ...args: string[]): Promise<ProgramChild<T>> {
  const child = spawn(...withParentDeathSignal(process.execPath, [...programOf(main), ...args]), {
    cwd: ROOT,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>(resolve => child.once('exit', () => resolve()));
  atEnd(() => child.kill('SIGKILL'));
  const said = await new Promise<T>((resolve, reject) => {
    createInterface(child.stdout).once('line', line => resolve(JSON.parse(line) as T));
    child.once('exit', code => reject(new Error(`${main} ended with ${code} and said nothing`)));
  });
  return {
    first_line: said,
    process: child,
    async end(signal) {
      child.kill(signal);
      await exited;
    },
  };
}
