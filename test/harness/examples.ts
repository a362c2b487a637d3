import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { developmentBuyers } from '../../gateway/development/chain/accounts.ts';
import { networks } from '../../schema/network.ts';
import type { Service } from './doors/open-service.ts';
import { withParentDeathSignal } from './parent-death-signal.ts';
import { atEnd } from './release.ts';
import { ROOT } from './root.ts';
import { ownFolder } from './scratch.ts';

/* Runs the programs of rest-compat/client/examples as a reader would: in Node, with only the variables that they need. */

export const EXAMPLES = join(ROOT, 'rest-compat/client/examples');

type Environment = Readonly<Record<string, string>>;
/** The cache lets Node compile the modules that all examples load only once. */
const kept = { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/examples') };

interface ExampleEnd {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a program of this checkout to its end. */
export async function runNode(file: string, words: readonly string[], environment: Environment): Promise<ExampleEnd> {
  const options = { cwd: ROOT, env: { ...kept, ...environment } };
  const ended = promisify(execFile)(process.execPath, [file, ...words], options);
  const { stdout: out, stderr: err } = await ended.catch(fault => fault);
  return { code: ended.child.exitCode ?? -1, out, err };
}

/**
 * Starts a program of this checkout that runs until it is interrupted. Returns its lines, which grow as it prints them, and a function that
 * interrupts it.
 */
export function startNode(file: string, words: readonly string[], environment: Environment) {
  const child = spawn(...withParentDeathSignal(process.execPath, [file, ...words]), {
    cwd: ROOT,
    env: { ...kept, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  atEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', line => lines.push(line));
  return {
    lines,
    press: () => child.stdin.write('\n'),
    /** Sends SIGINT, as Ctrl-C does. Resolves with the exit code. */
    async interrupt() {
      child.kill('SIGINT');
      return (await ended)[0];
    },
  };
}

/** A DATA_DIR with the file that a development service at `url` leaves in it. */
export async function developmentFolder({ chain, url }: Pick<Service, 'url' | 'chain'>): Promise<string> {
  const folder = await ownFolder();
  const development = { url, base_rpc_url: chain.rpc_url, usdc: networks.base.usdc, wallets: developmentBuyers };
  await writeFile(join(folder, 'development.json'), JSON.stringify(development));
  return folder;
}

/** Runs examples against a service, each with a new wallet. */
export function examplesAt(service: () => Pick<Service, 'url' | 'chain'>) {
  const environmentOf = async (given: Environment) => {
    const { private_key } = await service().chain.newWallet();
    // A new TMPDIR, because examples write files there and do not remove them.
    return { SERVICE_URL: service().url, PRIVATE_KEY: private_key, TMPDIR: await ownFolder(), ...given };
  };
  return {
    runExample: async (name: string, given: Environment = {}, ...words: readonly string[]) =>
      runNode(join(EXAMPLES, `${name}.ts`), words, await environmentOf(given)),
    startExample: async (name: string, given: Environment = {}) =>
      startNode(join(EXAMPLES, `${name}.ts`), [], await environmentOf(given)),
  };
}
