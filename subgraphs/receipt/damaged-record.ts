import { Refusal } from '../../schema/errors.ts';
import type { Database } from '../database.ts';

/** A signed record that is not stored as it was signed. */
export interface DamagedRecord {
  readonly record: 'receipt' | 'refusal';
  readonly id: string;
  /** The first column that disagrees with the signed bytes. */
  readonly column: string;
}

type DamageListener = (damaged: DamagedRecord) => void;

/** Listeners for damaged records, by database. Code in many places reads records, and none of it has access to the operator's log. */
const listeners = new WeakMap<object, DamageListener>();

/** Calls `hear` for every damaged record that is read from this database. */
export function onDamagedRecord(database: Pick<Database, 'query'>, hear: DamageListener): void {
  listeners.set(database, hear);
}

/** Reports a damaged record to the listener, and returns the error for the caller, which contains nothing of the record. */
export function recordDamaged(database: Pick<Database, 'query'>, damaged: DamagedRecord): Refusal {
  listeners.get(database)?.(damaged);
  return new Refusal('record_damaged');
}
