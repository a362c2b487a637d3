import { join } from 'node:path';
import type { Logger } from 'pino';
import { bookDamageSentence } from '../../subgraphs/book/audit/damage.ts';
import { KnownBooks } from '../../subgraphs/book/heads/known-books.ts';
import { compareSavedHeads, type DamageListener } from '../../subgraphs/book/heads/rollback.ts';
import { SavedHeads, UnreadableHeads } from '../../subgraphs/book/heads/saved-heads.ts';
import { systemClock } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import { anybodyServes } from '../../subgraphs/receipt/claim/lease.ts';
import { type Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { auditStored } from '../../subgraphs/receipt/log/audit-database.ts';
import { headToContinue } from '../../subgraphs/receipt/log/break.ts';
import { booksSentence, brokenBooks } from '../../subgraphs/receipt/log/broken-books.ts';
import { type LogHalt, mismatchSentence, newestBreak } from '../../subgraphs/receipt/log/halt.ts';
import { emptyHead } from '../../subgraphs/receipt/log/head.ts';
import { UnreadableHead } from '../../subgraphs/receipt/log/head-slots.ts';
import { KnownLog } from '../../subgraphs/receipt/log/known-log.ts';
import { type LogIntegrity, lastNotExtended, proveLogIntact } from '../../subgraphs/receipt/log/prove-intact.ts';
import { type SavedHead, savedHead } from '../../subgraphs/receipt/log/saved-head.ts';
import { type TreeHeadFacts } from '../../subgraphs/receipt/log/tree-head.ts';
import type { Faults } from '../operations/faults.ts';
import { damageSentence, LogGuard, WAY_ON } from './audit-log.ts';
import { LogWatch } from './watch-log.ts';

/** The database does not have the log that this service has signed. Nothing may be appended to it. */
class BrokenLog extends Error {
  override name = 'BrokenLog';
  readonly what: string;

  constructor(what: string, cause?: unknown) {
    super(`${what}. ${WAY_ON}`, { cause });
    this.what = what;
  }
}

export interface LogOptions {
  readonly data_dir: string;
  readonly faults?: Faults | null;
  /** Issuer that signs the head of an empty log. */
  readonly issuer: Issuer;
  readonly logger: Logger;
  /** Number of newest leaves that are audited before the service starts. */
  readonly audit_leaves: number;
}

/** State of the log, as far as this process has checked it. */
export interface LogStanding {
  /** False after damage, after a halt, and while committed heads cannot be saved in DATA_DIR. No payments are accepted then. */
  readonly sound: boolean;
  /** Set if nothing may be appended until an operator acts. Otherwise null. */
  readonly halt: LogHalt | null;
  /** False while the log is halted, and after this process's key has ended: new calls could not be recorded. */
  readonly signs: boolean;
}

export interface OpenedLog {
  readonly saved_head: SavedHead;
  /** Heads that this process has proven. A head that is read under its lock must extend them. */
  readonly known: KnownLog;
  /** Heads of books that this process has committed or proven. A book that is read under its lock must continue from its head. */
  readonly books: KnownBooks;
  readonly guard: LogGuard;
  readonly watch: LogWatch;
  readonly standing: LogStanding;
  stop(): Promise<void>;
}

/**
 * Proves before the service starts, in O(log n), that the log extends the saved head, and that its newest leaves match their receipts.
 * Older leaves are audited while the service runs. @throws BrokenLog
 */
export async function openLog(database: Database, options: LogOptions): Promise<OpenedLog> {
  const { data_dir, faults = null, issuer, logger, audit_leaves } = options;
  const path = join(data_dir, 'log-head.json');
  const known = new KnownLog(() => saved_head.readChanges());
  const saved_head = savedHead(path, {
    isExtended: async (older, newer) =>
      (known.hasProven(older) && known.hasProven(newer)) || (await lastNotExtended(database, [older], newer)) === null,
    stop: mismatch => known.stop(mismatch),
  });
  const saved = await readHeads(saved_head);
  const breaks_before = await newestBreak(database);
  const outside: readonly OutsideHead[] = saved.map(head => ({ where: SAVED, head }));
  const found = await (saved.length === 0
    ? begin(database, saved_head, issuer, path)
    : requireIntact(database, outside)
  ).catch(fault => withBooks(fault, database, data_dir));

  const from = Math.max(0, found.tree_size - audit_leaves);
  for await (const { damage } of auditStored(database, from, found.tree_size)) {
    if (damage[0]) throw new BrokenLog(`${damageSentence(damage[0])}; ${heads(outside[0] ?? null, found)}`);
  }
  known.addProven(
    found,
    outside.map(({ head }) => head),
  );
  const books = await openBooks(database, known, { data_dir, faults, logger });
  const guard = new LogGuard(database, from, logger);
  const watch = new LogWatch({ database, known, books, saved_head, breaks_before, logger });
  const stop = async () => {
    await Promise.all([watch.stop(), guard.stop()]);
    await Promise.all([books.close(), saved_head.close()]);
  };
  const standing = standingOf({ guard, watch, books, saved_head });
  return { saved_head, known, books, guard, watch, standing, stop };
}

/**
 * Opens the saved heads of books. Each book must continue from its saved head, which also covers free events that have no leaf in the log.
 * @throws BrokenLog
 */
async function openBooks(
  database: Database,
  known: KnownLog,
  { data_dir, faults, logger }: Pick<LogOptions, 'data_dir' | 'faults' | 'logger'>,
): Promise<KnownBooks> {
  const path = bookHeadsPath(data_dir);
  const saved = new SavedHeads(path, {
    all: () => books.all(database),
    onMissing: () =>
      logger.warn(
        `the file of saved book heads ${path} is gone; it is being written again from the books. Find out why it is gone`,
      ),
    onFailure: error =>
      logger.error(
        { err: error },
        `book heads cannot be saved in ${path}; no payments are accepted until they can be. Check disk space and permissions`,
      ),
    onCompactionFailure: error =>
      logger.warn(
        { err: error },
        `the file of saved book heads ${path} could not be compacted; it stays valid, and a later write compacts it. If this repeats, check disk space and permissions`,
      ),
    onRecovery: () => logger.warn(`book heads are saved in ${path} again, so they no longer stop payments`),
    isHalted: () => known.mismatch !== null,
    ...(faults && { before_write: () => faults.reach('before_book_heads') }),
  });
  const books: KnownBooks = new KnownBooks(known, saved, { damaged: logBookDamage(logger) });
  const { begun, broken } = await books.open(database).catch(fault => {
    throw fault instanceof UnreadableHeads ? new BrokenLog(fault.message, fault) : fault;
  });
  if (broken) throw new BrokenLog(booksSentence(broken));
  if (begun > 0)
    logger.warn(
      `no book heads were saved in ${path}; the file was written from the current state of ${begun} books, which were not compared with earlier heads. If the file existed before, find out why it is gone`,
    );
  return books;
}

function logBookDamage(logger: Logger): DamageListener {
  return (agent_id, damage) => logger.fatal({ agent_id, ...damage }, bookDamageSentence(agent_id, damage));
}

/** Adds to the error of a refused start the books that lost events, so that an operator can inform their owners. */
async function withBooks(fault: unknown, database: Database, data_dir: string): Promise<never> {
  if (!(fault instanceof BrokenLog)) throw fault;
  const saved = await new SavedHeads(bookHeadsPath(data_dir)).read().catch(() => null);
  const { gone_back, lost } = await compareSavedHeads(database, saved ?? []);
  const named = brokenBooks(gone_back, lost.length);
  throw named ? new BrokenLog(`${fault.what}; ${booksSentence(named)}`, fault) : fault;
}

/** File of the saved book heads, in the same folder as the log's head. */
export function bookHeadsPath(data_dir: string): string {
  return join(data_dir, 'book-heads.jsonl');
}

function standingOf({ guard, watch, books, saved_head }: Omit<OpenedLog, 'known' | 'standing' | 'stop'>): LogStanding {
  return {
    get sound() {
      return guard.sound && watch.sound && books.saves && !saved_head.fails;
    },
    get halt() {
      return watch.halt;
    },
    get signs() {
      return watch.signs;
    },
  };
}

/** A head that was saved outside the database, and the place where it was saved, for messages. */
interface OutsideHead {
  readonly where: string;
  readonly head: TreeHeadFacts;
}

const SAVED = 'the head saved outside the database';

/** Compares the log with the heads from outside the database. Returns the head of the log. Nothing else compares them. @throws BrokenLog */
async function requireIntact(database: Database, outside: readonly OutsideHead[]): Promise<TreeHeadFacts> {
  const looks = outside.map(async known => {
    const integrity = await proveLogIntact(database, known.head);
    if (integrity.kind !== 'intact') throw new BrokenLog(sentenceOf(integrity, known));
    return integrity.found;
  });
  const found = await Promise.all(looks);
  return found.reduce((least, other) => (other.tree_size < least.tree_size ? other : least));
}

/**
 * Saves the first head outside the database. The first start of a service saves the head of an empty log. A new process of a running
 * service saves the head of the log that the other processes have proven. @throws BrokenLog if nothing shows what was signed before
 */
async function begin(database: Database, saved_head: SavedHead, issuer: Issuer, path: string): Promise<TreeHeadFacts> {
  const integrity = await proveLogIntact(database, null);
  const { kind, found } = integrity;
  if (kind !== 'unsaved' && kind !== 'intact') throw new BrokenLog(sentenceOf(integrity, null));
  const served = found.tree_size > 0 && (await anybodyServes(database));
  if (found.tree_size > 0 && !served) {
    const missing = `the log has no saved head at ${path}, which every DATA_DIR from which it was served has`;
    throw new BrokenLog(`${missing}: ${heads(null, found)}`);
  }
  const head = served ? await headToContinue(database, found) : emptyHead(issuer, systemClock.now_ms());
  if (head !== null) await saved_head.save(head);
  return found;
}

async function readHeads(saved_head: SavedHead): Promise<readonly TreeHeadFacts[]> {
  try {
    return await saved_head.readAll();
  } catch (fault) {
    throw fault instanceof UnreadableHead ? new BrokenLog(fault.message, fault) : fault;
  }
}

type BrokenIntegrity = Exclude<LogIntegrity, { kind: 'intact' }>;

function sentenceOf(broken: BrokenIntegrity, known: OutsideHead | null): string {
  const both = heads(known, broken.found);
  switch (broken.kind) {
    case 'unsaved':
      return `no tree head of the log is saved outside the database: ${both}`;
    case 'contradictory':
      return `the log contradicts itself, because the number of its leaves is not the size of its head: ${both}`;
    case 'halted':
      return `the log was halted at ${broken.halt.at} by ${broken.halt.by}: ${mismatchSentence(broken.halt)}; ${both}`;
    case 'shrunken':
    case 'rewritten':
      return `the log is ${broken.kind}: ${both}`;
  }
}

function heads(known: OutsideHead | null, found: TreeHeadFacts): string {
  const outside = known && `${known.where} has size ${known.head.tree_size}, root ${known.head.root_hash}; `;
  return `${outside ?? ''}the database has size ${found.tree_size}, root ${found.root_hash}`;
}
