import { join } from 'node:path';
import type { Logger } from 'pino';
import { systemClock } from '../subgraphs/clock.ts';
import type { Database } from '../subgraphs/database.ts';
import {
  anybodyServes,
  auditStored,
  emptyHead,
  headToContinue,
  type Issuer,
  type LogIntegrity,
  proveLogIntact,
  type SavedHead,
  savedHead,
  type TreeHeadFacts,
  UnreadableHead,
} from '../subgraphs/receipt/index.ts';
import { damageSentence, LogGuard, WAY_ON } from './log-guard.ts';

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

export interface OpenedLog {
  readonly saved_head: SavedHead;
  readonly guard: LogGuard;
}

/**
 * Proves, before anything is served, that the log continues the one whose head was saved, in O(log n), and that its
 * newest leaves are those of their receipts; older ones are audited while the service runs. @throws BrokenLog
 */
export async function openLog(database: Database, options: LogOptions): Promise<OpenedLog> {
  const { data_dir, issuer, logger, audit_leaves } = options;
  const path = join(data_dir, 'log-head.json');
  const saved_head = savedHead(path);
  const saved = await readHead(saved_head);
  const integrity = await proveLogIntact(database, saved);
  const { found } = integrity;
  if (integrity.kind !== 'intact') {
    const begun = integrity.kind === 'unsaved' ? await headToBeginWith(database, found, issuer) : null;
    if (begun === null) throw new BrokenLog(sentenceOf(integrity, path));
    await saved_head.save(begun);
  }

  const from = Math.max(0, found.tree_size - audit_leaves);
  for await (const { damage } of auditStored(database, from, found.tree_size)) {
    if (damage[0]) throw new BrokenLog(`${damageSentence(damage[0])}; ${heads(saved, found)}`);
  }
  return { saved_head, guard: new LogGuard(database, from, logger) };
}

/**
 * The head of an empty log, at the very first start; or that of a log which other processes serve, each of which proved it
 * by a head of its own: a new one joins them. Null where nobody can say what was signed before.
 */
async function headToBeginWith(database: Database, found: TreeHeadFacts, issuer: Issuer) {
  if (found.tree_size === 0) return emptyHead(issuer, systemClock.now_ms());
  return (await anybodyServes(database)) ? headToContinue(database, found) : null;
}

async function readHead(saved_head: SavedHead): Promise<TreeHeadFacts | null> {
  try {
    return await saved_head.read();
  } catch (fault) {
    throw fault instanceof UnreadableHead ? new BrokenLog(fault.message, fault) : fault;
  }
}

function sentenceOf(broken: Exclude<LogIntegrity, { kind: 'intact' }>, path: string): string {
  const saved = broken.kind === 'unsaved' ? null : broken.saved;
  const both = heads(saved, broken.found);
  switch (broken.kind) {
    case 'unsaved':
      return `the log has no saved head at ${path} (every DATA_DIR that it was served from has one): ${both}`;
    case 'contradictory':
      return `the log contradicts itself, for its leaves do not end where its head does: ${both}`;
    case 'shrunken':
    case 'rewritten':
      return `the log is ${broken.kind}: ${both}`;
  }
}

function heads(saved: TreeHeadFacts | null, found: TreeHeadFacts): string {
  const outside = saved ? `size ${saved.tree_size}, root ${saved.root_hash}` : 'nothing';
  return `saved outside the database is ${outside}; the database has size ${found.tree_size}, root ${found.root_hash}`;
}
