import { Refusal } from '../../schema/errors.ts';
import type { Database } from '../database.ts';

/** A signed record that does not stand in the database as it was signed. */
export interface DamagedRecord {
  readonly record: 'receipt' | 'refusal';
  readonly id: string;
  /** The first column that disagrees with the signed bytes. */
  readonly column: string;
}

type Hear = (damaged: DamagedRecord) => void;

/** Who hears of damaged records, for each database: many read, and none of them knows an operator. */
const listeners = new WeakMap<object, Hear>();

/** From now on `hear` is told of every damaged record that is read from this database, each time it is. */
export function hearDamagedRecords(database: Pick<Database, 'query'>, hear: Hear): void {
  listeners.set(database, hear);
}

/** What whoever asked for it is told: that it is damaged, and nothing of what it says. */
export function recordDamaged(database: Pick<Database, 'query'>, damaged: DamagedRecord): Refusal {
  listeners.get(database)?.(damaged);
  return new Refusal('record_damaged');
}
