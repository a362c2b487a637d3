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

/** Listeners for damaged records of each database: many places read records, and none of them knows the operator's log. */
const listeners = new WeakMap<object, DamageListener>();

/** Calls `hear` for every damaged record that is read from this database. */
export function onDamagedRecord(database: Pick<Database, 'query'>, hear: DamageListener): void {
  listeners.set(database, hear);
}

/** The error for a caller: the record is damaged, without any of its contents. */
export function recordDamaged(database: Pick<Database, 'query'>, damaged: DamagedRecord): Refusal {
  listeners.get(database)?.(damaged);
  return new Refusal('record_damaged');
}
