import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import solcPackage from 'solc/package.json' with { type: 'json' };
import type { Abi, Hex } from 'viem';
import { mayWrite, mirrorOf } from '../../gateway/built.js';
import { sha256Hex } from '../../schema/digest.ts';
import { ROOT } from './root.ts';

/** Parts of a compiled contract that its deployment needs. */
export interface CompiledContract {
  readonly abi: Abi;
  readonly bytecode: Hex;
}
type Contracts = Readonly<Record<string, CompiledContract>>;

interface SolcOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, SolcContract>>>>;
}

interface SolcContract {
  readonly abi: Abi;
  readonly evm: { readonly bytecode: { readonly object: string } };
}

const SOURCE = 'Wallets.sol';
const KEPT = join(ROOT, 'node_modules/.cache/spend-receipt-gateway');
let known: Promise<Contracts> | null = null;

/** A compiled contract of the tests by its name. */
export async function contractNamed(name: string): Promise<CompiledContract> {
  known ??= contracts();
  const compiled = (await known)[name];
  if (!compiled) throw new Error(`there is no contract ${name} in ${SOURCE}`);
  return compiled;
}

/** Compiles all contracts once for all runs, because a compilation occupies a core for seven seconds and every worker needs them. */
export async function contracts(): Promise<Contracts> {
  const input = inputOf(await readFile(join(import.meta.dirname, 'contracts', SOURCE), 'utf8'));
  const name = `contracts-${sha256Hex(`${solcPackage.version} ${input}`)}.json`;
  // Contracts that another user compiled are read from the first folder. A user who cannot write there saves new ones in the second.
  const own = mayWrite(KEPT) ? KEPT : join(mirrorOf(ROOT), 'dist');
  for (const folder of [KEPT, own]) {
    const kept = await readFile(join(folder, name), 'utf8').catch(() => null);
    if (kept !== null) return JSON.parse(kept) as Contracts;
  }
  const compiled = await compile(input);
  await mkdir(own, { recursive: true });
  const file = join(own, name);
  await writeFile(`${file}.${process.pid}`, JSON.stringify(compiled));
  await rename(`${file}.${process.pid}`, file);
  return compiled;
}

function inputOf(content: string): string {
  return JSON.stringify({
    language: 'Solidity',
    sources: { [SOURCE]: { content } },
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  });
}

async function compile(input: string): Promise<Contracts> {
  const { default: solc } = await import('solc');
  const { contracts, errors = [] } = JSON.parse(solc.compile(input)) as SolcOutput;
  if (!contracts || errors.some(({ severity }) => severity === 'error'))
    throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  return Object.fromEntries(
    Object.entries(contracts[SOURCE] ?? {}).map(([name, { abi, evm }]) => [
      name,
      { abi, bytecode: `0x${evm.bytecode.object}` as Hex },
    ]),
  );
}
