import type pg from 'pg';
import type { Database } from '../../database.ts';
import { DatabaseAway } from '../../outage.ts';
import type { Mismatch } from './halt.ts';

/*
 * The database for resolvers: it refuses writes while the log is halted. All tables may have gone back with the log: a book would be
 * continued from a position that others have seen with another entry, a session that was ended would open it, and what is not found may
 * have existed.
 */

/** The mismatch of the log in a database; null while nothing is wrong with it. */
type Halt = () => Mismatch | null;

interface HaltSignal {
  readonly halt: Halt;
  readonly halted: Promise<void>;
}

const haltings = new WeakMap<object, HaltSignal>();
const never = new Promise<void>(() => {});

/** 503: the same call may succeed once an operator has resolved the halt, as it may once an unavailable database is back. */
export class RefusedWhileHalted extends DatabaseAway {
  constructor() {
    super(undefined, {
      detail: 'The receipt log is halted: all writes are refused until an operator has resolved it.',
    });
  }
}

/** `halted` resolves with the first moment of a halt: for whatever stays open beyond one request. */
export function refuseWritesWhileHalted(database: Database, halt: Halt, halted: Promise<void> = never): Database {
  const guarded: Database = {
    ...database,
    async query<R extends pg.QueryResultRow>(statement: pg.QueryConfig) {
      if (halt() === null) return database.query<R>(statement);
      // Postgres decides which statements write.
      return database.transaction(async tx => (await tx.query<R>(statement)).rows, { read_only: true });
    },
    async transaction(work, bound) {
      if (bound?.read_only) return database.transaction(work, bound);
      requireNotHalted(guarded);
      return database.transaction(async tx => {
        const result = await work(tx);
        // A halt that became known meanwhile counts: until the commit nothing is stored.
        requireNotHalted(guarded);
        return result;
      }, bound);
    },
  };
  haltings.set(guarded, { halt, halted });
  return guarded;
}

/** A database in place of another one, halted whenever the log of that one is. */
export function shareHalt(database: Pick<Database, 'query'>, other: Database): Database {
  const halting = haltings.get(database);
  if (halting) haltings.set(other, halting);
  return other;
}

/**
 * For whatever would be stated as complete, or opened by a credential, and may have lost entries.
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

/** Null is believed only while the log is not halted. @throws RefusedWhileHalted 503 */
export function resultUnlessHalted<T>(database: Pick<Database, 'query'>, found: T | null): T | null {
  if (found === null) requireNotHalted(database);
  return found;
}
