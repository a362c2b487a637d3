import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { syncFolderOf, writeDurably } from '../../../subgraphs/durable-file.ts';
import { splitNote } from '../../../subgraphs/receipt/verify/note.ts';
import { checkpointHead } from '../../../subgraphs/receipt/verify/open-checkpoint.ts';
import { type VerifierKey, verifierKey } from '../../../subgraphs/receipt/verify/verifier-key.ts';
import { OperatorFault } from '../../config/fault.ts';
import { LogAway, LogSource } from './log-source.ts';
import type { WitnessOptions } from './options.ts';

/** The one log that a state folder is for. */
export interface TrustedLog {
  readonly origin: string;
  readonly keys: readonly VerifierKey[];
  readonly source: LogSource;
}

const Kept = z.object({ url: z.string(), prefix: z.string(), origin: z.string(), keys: z.array(z.string()).min(1) });

type Trusting = Pick<WitnessOptions, 'keys' | 'url'> & { readonly state: string };

/**
 * By which keys which log is believed: those given, else those that are kept, else those that the log names itself, once. Keys
 * are of the log's origin, so that one of another log vouches for nothing here. From then on the folder is that log's.
 * @throws OperatorFault where a key is of another log, or nothing says by which key it is believed
 */
export async function trustedLog(options: Trusting, say: (line: string) => void): Promise<TrustedLog> {
  const { keys: given, state, url } = options;
  const path = join(state, 'log.json');
  const kept = await keptLog(path);
  const prefix = kept?.url === url ? kept.prefix : await prefixOf(url);
  const source = new LogSource(prefix);
  const texts = given.length > 0 ? given : (kept?.keys ?? (await firstKeys(source, say)));
  const keys = texts.map(text => keyOf(text));
  const origin = kept?.origin ?? keys[0]?.name ?? '';
  const foreign = keys.find(({ name }) => name !== origin);
  if (foreign)
    throw new OperatorFault(`${foreign.text} is no key of ${origin}, which ${state} is for: give another --state`);
  await keep(path, { url, prefix, origin, keys: [...texts] });
  return { origin, keys, source };
}

/**
 * A log may move, and is called as before; another one has a folder of its own. Asked before anything is written there, and of the log
 * only where the folder was for another URL: a witness makes its key while nobody answers yet.
 * @throws OperatorFault
 */
export async function requireOwnFolder({ url, state }: Trusting): Promise<void> {
  const kept = await keptLog(join(state, 'log.json'));
  if (kept === null || kept.url === url) return;
  const prefix = await prefixOf(url);
  const split = splitNote(await new LogSource(prefix).checkpoint());
  const found = split && checkpointHead(split.text)?.origin;
  if (found !== kept.origin)
    throw new OperatorFault(
      `${state} belongs to the log ${kept.origin} at ${kept.url}, but ${prefix} is the log ${found}: use another --state. Nothing was changed`,
    );
}

type KeptLog = z.infer<typeof Kept>;

async function keptLog(path: string): Promise<KeptLog | null> {
  try {
    return Kept.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new OperatorFault(`${path} cannot be read`, { cause: fault });
  }
}

/** Where the log lies: at the URL, or at /log of the service there. */
async function prefixOf(url: string): Promise<string> {
  const faults: string[] = [];
  for (const prefix of [url, `${url}/log`]) {
    try {
      const split = splitNote(await new LogSource(prefix).checkpoint());
      if (split && checkpointHead(split.text)) return prefix;
      faults.push(`${prefix}/checkpoint is no checkpoint`);
    } catch (fault) {
      if (!(fault instanceof LogAway)) throw fault;
      faults.push(fault.message);
    }
  }
  throw new OperatorFault(`there is no log at ${url}: ${faults.join('; ')}`);
}

async function firstKeys(source: LogSource, say: (line: string) => void): Promise<readonly string[]> {
  const named = await source.verifierKeys();
  if (named.length === 0) throw new OperatorFault('the log does not name its key: give it with --key');
  say(
    'No --key was given: from now on these keys are trusted, which the log has named itself. Compare them with its operator’s.',
  );
  for (const text of named) say(`  ${text}`);
  return named;
}

function keyOf(text: string): VerifierKey {
  const key = verifierKey(text);
  if (key?.kind === 'signature') return key;
  throw new OperatorFault(`${text} is no verifier key of a log: <name>+<id>+<key>`);
}

async function keep(path: string, log: KeptLog): Promise<void> {
  const aside = `${path}.${process.pid}.tmp`;
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
  await rm(aside, { force: true });
  await writeDurably(aside, `${JSON.stringify(log, null, 2)}\n`);
  await rename(aside, path);
  await syncFolderOf(path);
}
