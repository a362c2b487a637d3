import { readFile } from 'node:fs/promises';
import { ConfigFault } from '../config/fault.ts';
import type { SubstitutedName } from '../config/substitutes.ts';

const TAIL_CHARS = 2_000;

/** What takes a variable's place did not come up; the end of its log is the cause. */
export async function standInFault(variable: SubstitutedName, stand_in: string, log: string): Promise<ConfigFault> {
  const tail = (await readFile(log, 'utf8').catch(() => '')).slice(-TAIL_CHARS);
  const problem = `not set, and ${stand_in} in its place did not start; read ${log}, or set it`;
  return new ConfigFault([{ variable, problem }], { cause: new Error(tail) });
}
