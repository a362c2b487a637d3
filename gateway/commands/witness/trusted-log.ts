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

/** The log to which a state folder belongs. */
export interface TrustedLog {
  readonly origin: string;
  readonly keys: readonly VerifierKey[];
  readonly source: LogSource;
}

const Kept = z.object({ url: z.string(), prefix: z.string(), origin: z.string(), keys: z.array(z.string()).min(1) });

type TrustedLogOptions = Pick<WitnessOptions, 'keys' | 'url'> & { readonly state: string };

/**
 * Opens the log with its trusted keys: the given ones, else the stored ones, else, at the first start, those that the log
 * publishes. All keys must have the log's origin. From then on the folder belongs to that log.
 * @throws OperatorFault if a key belongs to another log, or there is no key
 */
export async function trustedLog(options: TrustedLogOptions, say: (line: string) => void): Promise<TrustedLog> {
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
    throw new OperatorFault(
      `${foreign.text} is not a key of ${origin}, the log of ${state}; correct --key, or use another --state`,
    );
  await keep(path, { url, prefix, origin, keys: [...texts] });
  return { origin, keys, source };
}

/**
 * Checks that the folder belongs to the log, before anything is written. A log that moved keeps its origin; another log needs
 * another folder. The log is read only if the URL has changed, so that a witness can make its key before the log responds.
 * @throws OperatorFault
 */
export async function requireOwnFolder({ url, state }: TrustedLogOptions): Promise<void> {
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
    throw new OperatorFault(`${path} cannot be read; restore it, or use another --state`, { cause: fault });
  }
}

/** The prefix of the log: the URL itself, or /log of the service at the URL. */
async function prefixOf(url: string): Promise<string> {
  const faults: string[] = [];
  for (const prefix of [url, `${url}/log`]) {
    try {
      const split = splitNote(await new LogSource(prefix).checkpoint());
      if (split && checkpointHead(split.text)) return prefix;
      faults.push(`${prefix}/checkpoint is not a checkpoint`);
    } catch (fault) {
      if (!(fault instanceof LogAway)) throw fault;
      faults.push(fault.message);
    }
  }
  throw new OperatorFault(`there is no log at ${url}: ${faults.join('; ')}`);
}

async function firstKeys(source: LogSource, say: (line: string) => void): Promise<readonly string[]> {
  const named = await source.verifierKeys();
  if (named.length === 0)
    throw new OperatorFault(
      'the log does not publish its verifier key; get it from the operator and give it with --key',
    );
  say(
    'No --key was given. From now on these keys are trusted, which the log publishes itself. Compare them with those of its operator.',
  );
  for (const text of named) say(`  ${text}`);
  return named;
}

function keyOf(text: string): VerifierKey {
  const key = verifierKey(text);
  if (key?.kind === 'signature') return key;
  throw new OperatorFault(
    `${text} is not the verifier key of a log (<name>+<id>+<key>); give the right one with --key`,
  );
}

async function keep(path: string, log: KeptLog): Promise<void> {
  const aside = `${path}.${process.pid}.tmp`;
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
  await rm(aside, { force: true });
  await writeDurably(aside, `${JSON.stringify(log, null, 2)}\n`);
  await rename(aside, path);
  await syncFolderOf(path);
}
