import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { locateBuild } from '../../../gateway/built.js';
import { build } from '../../../gateway/development/build.ts';

/** Message to the thread for one run of a command. */
export interface CommandOptions {
  /** URL of the built file. */
  readonly url: string;
  /** Folder in which V8 keeps the compiled code of the file. */
  readonly compiled: string;
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly input: string;
}

export interface CommandOutput {
  readonly to: 'stdout' | 'stderr';
  readonly text: string;
}

export interface CommandInput {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Text on standard input. */
  readonly input?: string;
}

/** Exit code and output of a command. */
export interface CommandEnd {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Both outputs in the order in which they were written, without the last line feed. */
  readonly text: string;
}

let thread: Worker | null = null;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs an operator's command (`gateway/commands/verify.ts`) from its build, in a thread of this worker. That takes some milliseconds of
 * CPU, where a process takes half a second. The command gets only these arguments and variables. Commands run one after the other. Tests
 * that send signals, tests of HOME, and one test of each command start a process instead.
 */
export function runCommand(entry: string, words: readonly string[], given: CommandInput = {}): Promise<CommandEnd> {
  const end = last.then(() => runNext(entry, words, given));
  last = end.catch(() => {});
  return end;
}

async function runNext(
  entry: string,
  words: readonly string[],
  { environment = {}, input = '' }: CommandInput,
): Promise<CommandEnd> {
  const { file, folder } = await builtProgram(entry);
  const asked: CommandOptions = {
    url: pathToFileURL(file).href,
    compiled: join(folder, 'v8'),
    argv: [process.execPath, resolve(entry), ...words],
    environment: defined(environment),
    input,
  };
  const { code, written } = await sendTo(openThread(), asked);
  const textOf = (to?: CommandOutput['to']) =>
    written
      .filter(one => to === undefined || one.to === to)
      .map(({ text }) => text)
      .join('');
  return { code, out: textOf('stdout'), err: textOf('stderr'), text: textOf().replace(/\n$/, '') };
}

function openThread(): Worker {
  if (thread !== null) return thread;
  const opened = new Worker(join(import.meta.dirname, 'thread.ts'), { execArgv: [], env: {} });
  opened.unref();
  opened.on('exit', () => {
    if (thread === opened) thread = null;
  });
  thread = opened;
  return opened;
}

type CommandResult = { readonly code: number; readonly written: readonly CommandOutput[] };

function sendTo(worker: Worker, asked: CommandOptions): Promise<CommandResult> {
  const told = Promise.withResolvers<CommandResult>();
  const gone = (fault: unknown) => told.reject(new Error('the thread of commands ended', { cause: fault }));
  worker.once('message', told.resolve).once('error', gone).once('exit', gone);
  worker.postMessage(asked);
  return told.promise.finally(() => worker.off('message', told.resolve).off('error', gone).off('exit', gone));
}

const built = new Map<string, ReturnType<typeof locateBuild>>();

/** Finds and builds each program only once, because sources do not change while tests run. */
async function builtProgram(entry: string): Promise<ReturnType<typeof locateBuild>> {
  const known = built.get(entry) ?? locateBuild(entry);
  built.set(entry, known);
  if (!existsSync(known.file)) await build(known);
  return known;
}

function defined(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const pairs = Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return Object.fromEntries(pairs);
}
