import { join } from 'node:path';
import type { Logger } from 'pino';
import { systemClock } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import { anybodyServes } from '../../subgraphs/receipt/claim/lease.ts';
import { type Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { auditStored } from '../../subgraphs/receipt/log/audit-stored.ts';
import { headToContinue } from '../../subgraphs/receipt/log/break.ts';
import { type LogHalt, mismatchSentence, newestBreak } from '../../subgraphs/receipt/log/halt.ts';
import { emptyHead } from '../../subgraphs/receipt/log/head.ts';
import { KnownLog } from '../../subgraphs/receipt/log/known-log.ts';
import { lastNotExtended } from '../../subgraphs/receipt/log/prove-extension.ts';
import { type LogIntegrity, proveLogIntact } from '../../subgraphs/receipt/log/prove-intact.ts';
import { type SavedHead, savedHead, UnreadableHead } from '../../subgraphs/receipt/log/saved-head.ts';
import { type TreeHeadFacts } from '../../subgraphs/receipt/log/tree-head.ts';
import { damageSentence, LogGuard, WAY_ON } from './audit-log.ts';
import { LogWatch } from './watch-log.ts';

/** The database does not hold the log that this service has signed. Nothing may be appended to it. */
class BrokenLog extends Error {
  override name = 'BrokenLog';

  constructor(what: string, cause?: unknown) {
    super(`${what}. ${WAY_ON}`, { cause });
  }
}

export interface LogOptions {
  readonly data_dir: string;
  /** Signs the head of a log that has no leaf yet. */
  readonly issuer: Issuer;
  readonly logger: Logger;
  /** How many of the newest are audited before anything is served. */
  readonly audit_leaves: number;
}

/** Whether the log may be relied on, as far as this process knows. */
export interface LogStanding {
  /** False from the first damaged place on, and once it is halted: no payment is taken. */
  readonly sound: boolean;
  /** Nothing is appended any more, and what waits for that waits for an operator. */
  readonly halt: LogHalt | null;
  /** False while it is halted, and once the key of this process has ended: what it then took or took over it could not record. */
  readonly signs: boolean;
}

export interface OpenedLog {
  readonly saved_head: SavedHead;
  /** What is found under the head's lock must extend it. */
  readonly known: KnownLog;
  readonly guard: LogGuard;
  readonly watch: LogWatch;
  readonly standing: LogStanding;
  stop(): Promise<void>;
}

/**
 * Proves, before anything is served, that the log continues the one whose head was saved, in O(log n), and that its
 * newest leaves are those of their receipts; older ones are audited while the service runs. @throws BrokenLog
 */
export async function openLog(database: Database, options: LogOptions): Promise<OpenedLog> {
  const { data_dir, issuer, logger, audit_leaves } = options;
  const path = join(data_dir, 'log-head.json');
  const known = new KnownLog(() => {
    const changed = saved_head.changed();
    return changed ? [changed] : [];
  });
  const saved_head = savedHead(path, {
    isExtended: async (older, newer) =>
      (known.hasProven(older) && known.hasProven(newer)) || (await lastNotExtended(database, [older], newer)) === null,
    stop: mismatch => known.stop(mismatch),
  });
  const saved = await readHead(saved_head);
  const breaks_before = await newestBreak(database);
  const outside: readonly OutsideHead[] = saved === null ? [] : [{ where: SAVED, head: saved }];
  const found =
    saved === null ? await begin(database, saved_head, issuer, path) : await requireIntact(database, outside);

  const from = Math.max(0, found.tree_size - audit_leaves);
  for await (const { damage } of auditStored(database, from, found.tree_size)) {
    if (damage[0]) throw new BrokenLog(`${damageSentence(damage[0])}; ${heads(outside[0] ?? null, found)}`);
  }
  known.proved(
    found,
    outside.map(({ head }) => head),
  );
  const guard = new LogGuard(database, from, logger);
  const watch = new LogWatch({ database, known, saved_head, breaks_before, logger });
  const stop = async () => void (await Promise.all([watch.stop(), guard.stop()]));
  return { saved_head, known, guard, watch, standing: standingOf(guard, watch), stop };
}

function standingOf(guard: LogGuard, watch: LogWatch): LogStanding {
  return {
    get sound() {
      return guard.sound && watch.sound;
    },
    get halt() {
      return watch.halt;
    },
    get signs() {
      return watch.signs;
    },
  };
}

/** A head that is known from elsewhere than the database, and where from, as a sentence names it. */
interface OutsideHead {
  readonly where: string;
  readonly head: TreeHeadFacts;
}

const SAVED = 'saved outside the database';

/** Every head that is known from outside is required here, and nowhere else. @throws BrokenLog */
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
 * Saves the head of an empty log, at the very first start; or that of a log which other processes serve, each of which
 * proved it by a head of its own: a new one joins them. @throws BrokenLog where nobody can say what was signed before.
 */
async function begin(database: Database, saved_head: SavedHead, issuer: Issuer, path: string): Promise<TreeHeadFacts> {
  const integrity = await proveLogIntact(database, null);
  const { kind, found } = integrity;
  if (kind !== 'unsaved' && kind !== 'intact') throw new BrokenLog(sentenceOf(integrity, null));
  const served = found.tree_size > 0 && (await anybodyServes(database));
  if (found.tree_size > 0 && !served) {
    const missing = `the log has no saved head at ${path} (every DATA_DIR that it was served from has one)`;
    throw new BrokenLog(`${missing}: ${heads(null, found)}`);
  }
  const head = served ? await headToContinue(database, found) : emptyHead(issuer, systemClock.now_ms());
  if (head !== null) await saved_head.save(head);
  return found;
}

async function readHead(saved_head: SavedHead): Promise<TreeHeadFacts | null> {
  try {
    return await saved_head.read();
  } catch (fault) {
    throw fault instanceof UnreadableHead ? new BrokenLog(fault.message, fault) : fault;
  }
}

type Broken = Exclude<LogIntegrity, { kind: 'intact' }>;

function sentenceOf(broken: Broken, known: OutsideHead | null): string {
  const both = heads(known, broken.found);
  switch (broken.kind) {
    case 'unsaved':
      return `nothing is known of the log from outside: ${both}`;
    case 'contradictory':
      return `the log contradicts itself, for its leaves do not end where its head does: ${both}`;
    case 'halted':
      return `the log was halted at ${broken.halt.at} by ${broken.halt.by}: ${mismatchSentence(broken.halt)}; ${both}`;
    case 'shrunken':
    case 'rewritten':
      return `the log is ${broken.kind}: ${both}`;
  }
}

function heads(known: OutsideHead | null, found: TreeHeadFacts): string {
  const outside = known ? `size ${known.head.tree_size}, root ${known.head.root_hash}` : 'nothing';
  const where = known?.where ?? SAVED;
  return `${where} is ${outside}; the database has size ${found.tree_size}, root ${found.root_hash}`;
}
