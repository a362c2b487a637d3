import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { Logger } from 'pino';
import { OperatorFault, UsageFault } from '../config/fault.ts';
import type { Settings } from '../config/read-config.ts';

/** Errors, by name, of code that is not written for operators. The text here adds what an operator can do. */
const sentences: Readonly<Record<string, string>> = {
  BrokenLog: '',
  BrokenHistory: '',
  AnchorContradicted: '',
  NoTreasury: '',
  UnfinishedPayments: '',
  ChainAway: ' The node of BASE_RPC_URL or SOLANA_RPC_URL does not answer; set it to one that does.',
  OtherChain: ' BASE_RPC_URL, SOLANA_RPC_URL and DATABASE_URL must belong to the same service.',
};

/** Message for an operator, one line per variable. Null if the error is a defect. */
export function sentenceOf(fault: unknown): string | null {
  if (fault instanceof OperatorFault) return fault.message;
  if (!(fault instanceof Error) || !Object.hasOwn(sentences, fault.name)) return null;
  const sentence = fault.message.replaceAll(/\s*\n\s*/g, ' ').replace(/(?<![.!?])$/, '.');
  return sentence + sentences[fault.name];
}

/** Checks the arguments of a program that is configured only by its environment. @throws UsageFault if it has arguments */
export function requireNoArguments([first] = process.argv.slice(2)): void {
  if (first !== undefined)
    throw new UsageFault(
      `${first}: this command takes no arguments; its settings are environment variables (gateway/config/README.md)`,
    );
}

/** Parses the command line. @throws UsageFault if an option is unknown */
export function givenWords<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (fault) {
    throw new UsageFault(fault instanceof Error ? fault.message : String(fault));
  }
}

/** Logs each setting that has no effect. */
export function warnWithoutEffect(
  logger: Pick<Logger, 'warn'>,
  { without_effect }: Pick<Settings, 'without_effect'>,
): void {
  for (const { variable, problem } of without_effect) logger.warn({ variable }, `${variable} ${problem}`);
}

interface RunOptions {
  /** Text that is printed after a UsageFault. */
  readonly usage?: string;
  /** Exit code of any other error that the operator can fix. */
  readonly fault_code?: number;
}

const USAGE_CODE = 2;

/**
 * Runs a program. Wrong arguments end it with the fault, its usage and exit code 2. Another error that the operator can fix ends it with a
 * line on stderr and exit code 1. Any other error is thrown.
 */
export async function run(
  program: () => Promise<void>,
  { usage = '', fault_code = 1 }: RunOptions = {},
): Promise<void> {
  try {
    await program();
  } catch (fault) {
    const sentence = sentenceOf(fault);
    if (sentence === null) throw fault;
    const is_usage = fault instanceof UsageFault;
    console.error(is_usage ? [sentence, usage].filter(Boolean).join('\n') : sentence);
    // Handles that are still open would keep the process running.
    process.exit(is_usage ? USAGE_CODE : fault_code);
  }
}
