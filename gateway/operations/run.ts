import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { Logger } from 'pino';
import { OperatorFault } from '../config/fault.ts';
import type { Settings } from '../config/read-config.ts';

/** Thrown by those who know no operator: their messages are sentences too. What to do is said here where they do not. */
const sentences: Readonly<Record<string, string>> = {
  BrokenLog: '',
  BrokenHistory: '',
  AnchorContradicted: '',
  NoTreasury: '',
  UnfinishedPayments: '',
  ChainAway: ' The node that BASE_RPC_URL or SOLANA_RPC_URL names does not answer: name one that does.',
  OtherChain: ' BASE_RPC_URL, SOLANA_RPC_URL and DATABASE_URL have to belong together.',
};

/** What to tell an operator, in one line (for several variables one each); null where it is a fault of our own. */
export function sentenceOf(fault: unknown): string | null {
  if (fault instanceof OperatorFault) return fault.message;
  if (!(fault instanceof Error) || !Object.hasOwn(sentences, fault.name)) return null;
  const sentence = fault.message.replaceAll(/\s*\n\s*/g, ' ').replace(/(?<![.!?])$/, '.');
  return sentence + sentences[fault.name];
}

/** For a program that is told all by its environment. @throws OperatorFault where it is given words, which nothing would read */
export function requireNoArguments([first] = process.argv.slice(2)): void {
  if (first !== undefined)
    throw new OperatorFault(`${first}: this command takes no arguments; gateway/config/README.md has its variables`);
}

/** The words that a command is given. @throws OperatorFault where they are none of its options */
export function givenWords<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (fault) {
    throw new OperatorFault(fault instanceof Error ? fault.message : String(fault));
  }
}

/** Tells an operator what is set and changes nothing. */
export function warnWithoutEffect(
  logger: Pick<Logger, 'warn'>,
  { without_effect }: Pick<Settings, 'without_effect'>,
): void {
  for (const { variable, problem } of without_effect) logger.warn({ variable }, `${variable} ${problem}`);
}

/** Runs a program: what its operator can mend ends it with a line on stderr and exit code 1, all else with its stack. */
export async function run(program: () => Promise<void>): Promise<void> {
  try {
    await program();
  } catch (fault) {
    const sentence = sentenceOf(fault);
    if (sentence === null) throw fault;
    console.error(sentence);
    // Whatever is still open was opened for what does not happen.
    process.exit(1);
  }
}
