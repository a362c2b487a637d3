import type pg from 'pg';
import type { Database } from '../../database.ts';
import { DatabaseAway } from '../../outage.ts';
import type { Mismatch } from './halt.ts';

/*
 * The database for resolvers, which refuses writes while the log is halted. All tables may have gone back to an older state with the log. A
 * book would then be continued from a position at which others have seen another entry, a session that was ended would give access to it,
 * and what is not found may have existed.
 */

/** Returns the mismatch of the log in a database; null while there is none. */
type Halt = () => Mismatch | null;

interface HaltSignal {
  readonly halt: Halt;
  readonly halted: Promise<void>;
}

const haltings = new WeakMap<object, HaltSignal>();
const never = new Promise<void>(() => {});

/** 503: the same call may succeed once an operator has resolved the halt, just as after an outage of the database. */
export class RefusedWhileHalted extends DatabaseAway {
  constructor() {
    super(undefined, {
      detail: 'The receipt log is halted: all writes are refused until an operator has resolved it.',
    });
  }
}

/**
 * Wraps a database so that it refuses writes while the log is halted. `halted` resolves when a halt begins, for connections that stay open
 * beyond one request.
 */
export function refuseWritesWhileHalted(database: Database, halt: Halt, halted: Promise<void> = never): Database {
  const guarded: Database = {
    ...database,
    async query<R extends pg.QueryResultRow>(statement: pg.QueryConfig) {
      if (halt() === null) return database.query<R>(statement);
      // A read-only transaction leaves it to Postgres to decide which statements write.
      return database.transaction(async tx => (await tx.query<R>(statement)).rows, { read_only: true });
    },
    async transaction(work, bound) {
      if (bound?.read_only) return database.transaction(work, bound);
      requireNotHalted(guarded);
      return database.transaction(async tx => {
        const result = await work(tx);
        // A halt that became known during the work counts too, because nothing is stored before the commit.
        requireNotHalted(guarded);
        return result;
      }, bound);
    },
  };
  haltings.set(guarded, { halt, halted });
  return guarded;
}

/** Returns `other`, which then counts as halted whenever `database` does. */
export function shareHalt(database: Pick<Database, 'query'>, other: Database): Database {
  const halting = haltings.get(database);
  if (halting) haltings.set(other, halting);
  return other;
}

/**
 * For results that would be stated as complete, or opened by a credential, although entries may be lost.
 * @throws RefusedWhileHalted 503
 */
export function requireNotHalted(database: Pick<Database, 'query'>): void {
  if (isHalted(database)) throw new RefusedWhileHalted();
}

export function isHalted(database: Pick<Database, 'query'>): boolean {
  return (haltings.get(database)?.halt() ?? null) !== null;
}

/** Resolves once the log of this database is halted. */
export function whenHalted(database: Pick<Database, 'query'>): Promise<void> {
  return haltings.get(database)?.halted ?? never;
}

/**
 * Returns `found`. A null is returned only while the log is not halted, because otherwise the row may have been lost. @throws
 * RefusedWhileHalted 503
 */
export function resultUnlessHalted<T>(database: Pick<Database, 'query'>, found: T | null): T | null {
  if (found === null) requireNotHalted(database);
  return found;
}
