import { enableCompileCache, flushCompileCache } from 'node:module';
import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { parentPort } from 'node:worker_threads';
import type { CommandOptions, CommandOutput } from './run.ts';

/*
 * A thread that runs operators' commands one after the other. Modules that commands share are loaded once, but the file of a command is
 * evaluated in each run, as in a new process. `process` is replaced, so that a command gets its own arguments, variables, output and exit.
 */

/** Thrown by `process.exit`, so that no statement after it runs. */
class Exit extends Error {
  override name = 'Exit';
  readonly code: number;

  constructor(code: number) {
    super(`ended with ${code}`);
    this.code = code;
  }
}

let written: CommandOutput[] = [];
let crash = Promise.withResolvers<never>();

for (const name of ['stdout', 'stderr'] as const) {
  process[name].write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    written.push({ to: name, text: typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString() });
    const done = rest.at(-1);
    if (typeof done === 'function') queueMicrotask(() => done());
    return true;
  };
}
process.exit = code => {
  throw new Exit(Number(code ?? process.exitCode ?? 0));
};
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, fault => crash.reject(fault));

let runs = 0;

async function run({ url, argv, environment, input }: CommandOptions): Promise<number> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.argv = [...argv];
  process.exitCode = undefined;
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  written = [];
  crash = Promise.withResolvers();
  crash.promise.catch(() => {});
  try {
    await Promise.race([import(`${url}?run=${++runs}`), crash.promise]);
    return Number(process.exitCode ?? 0);
  } catch (fault) {
    if (fault instanceof Exit) return fault.code;
    process.stderr.write(`${inspect(fault)}\n`);
    return 1;
  }
}

parentPort?.on('message', async (asked: CommandOptions) => {
  enableCompileCache(asked.compiled);
  const code = await run(asked);
  if (runs === 1) flushCompileCache();
  parentPort?.postMessage({ code, written });
});
