import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import solc from 'solc';
import type { Abi, Hex } from 'viem';

/** What of a contract goes on a chain. */
export interface Compiled {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

interface SolcOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, SolcContract>>>>;
}

interface SolcContract {
  readonly abi: Abi;
  readonly evm: { readonly bytecode: { readonly object: string } };
}

const SOURCE = 'Wallets.sol';
let compiling: Promise<ReadonlyMap<string, Compiled>> | null = null;

/** A contract of the tests by name; all are compiled the first time that one is asked for. */
export async function contractNamed(name: string): Promise<Compiled> {
  compiling ??= compileAll();
  const compiled = (await compiling).get(name);
  if (!compiled) throw new Error(`there is no contract ${name} in ${SOURCE}`);
  return compiled;
}

async function compileAll(): Promise<ReadonlyMap<string, Compiled>> {
  const content = await readFile(join(import.meta.dirname, 'contracts', SOURCE), 'utf8');
  const input = {
    language: 'Solidity',
    sources: { [SOURCE]: { content } },
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  };
  const { contracts, errors = [] } = JSON.parse(solc.compile(JSON.stringify(input))) as SolcOutput;
  if (!contracts || errors.some(({ severity }) => severity === 'error'))
    throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  return new Map(
    Object.entries(contracts[SOURCE] ?? {}).map(([name, { abi, evm }]) => [
      name,
      { abi, bytecode: `0x${evm.bytecode.object}` },
    ]),
  );
}
