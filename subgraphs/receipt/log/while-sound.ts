import type pg from 'pg';
import type { Database } from '../../database.ts';
import { LogHalted, type Mismatch } from './halt.ts';

/*
 * What a process does with its database while the log is halted. All tables may have gone back with the log: a book would be
 * written on from a position that others have seen with another entry, a session that was ended would open it, and what is
 * not found may have been there.
 */

/** What is known of the log that a database holds; null while nothing is wrong with it. */
type Halt = () => Mismatch | null;

const halts = new WeakMap<object, Halt>();

/** The database for whoever answers calls: nothing is written to it while the log is halted, and `requireNotHalted` knows of it. */
export function writtenWhileSound(database: Database, halt: Halt): Database {
  const served: Database = {
    ...database,
    async query<R extends pg.QueryResultRow>(statement: pg.QueryConfig) {
      if (writes(statement.text)) requireNotHalted(served);
      return database.query<R>(statement);
    },
    async transaction(work, bound) {
      if (bound?.reads) return database.transaction(work, bound);
      requireNotHalted(served);
      return database.transaction(async tx => {
        const result = await work(tx);
        // What became known meanwhile counts: until the commit nothing of it stands.
        requireNotHalted(served);
        return result;
      }, bound);
    },
  };
  halts.set(served, halt);
  return served;
}

/**
 * For whatever would be stated as complete, or opened by a credential, and may have lost entries.
 * @throws LogHalted 503
 */
export function requireNotHalted(database: Pick<Database, 'query'>): void {
  const mismatch = halts.get(database)?.() ?? null;
  if (mismatch !== null) throw new LogHalted(mismatch);
}

/** What was found. That nothing was is known only of a database that has not gone back. @throws LogHalted 503 */
export function foundOrNone<T>(database: Pick<Database, 'query'>, found: T | null): T | null {
  if (found === null) requireNotHalted(database);
  return found;
}

/** Beside the three statements that write, the functions that add a job or give a notice. */
const WRITING =
  /\binsert\s+into\b|\bdelete\s+from\b|\bupdate\s+\S+(\s+(as\s+)?\w+)?\s+set\b|\badd_jobs?\(|\bpg_notify\(/i;
const judged = new Map<string, boolean>();

/** Texts are few and fixed; their values are never part of them. */
function writes(text: string): boolean {
  const known = judged.get(text) ?? WRITING.test(text);
  judged.set(text, known);
  return known;
}
