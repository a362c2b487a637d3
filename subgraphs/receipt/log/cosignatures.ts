import type { Database } from '../../database.ts';
import type { HeadName } from './tree-head.ts';

/**
 * Why a witness cosigns no newer head. `refused`: it says that the log does not extend what it has cosigned. `ahead`: it has cosigned more
 * leaves than this log has. `lied`: its response is not a cosignature by its key. `unknown_log`: it is not set up for this log, or for any
 * of its keys. `away`: it does not respond.
 */
export type WitnessTrouble = 'refused' | 'ahead' | 'lied' | 'unknown_log' | 'away';

/** Progress of a witness, the same for all processes. */
export interface WitnessStanding {
  /** Verifier key of the witness. */
  readonly witness: string;
  /** Tree size from which the witness accepts the next consistency proof. */
  readonly old_size: number;
  readonly cosigned_size: number;
  /** Time of its newest cosignature (ISO 8601). Null before the first. */
  readonly cosigned_at: string | null;
  readonly trouble: WitnessTrouble | null;
}

/** Number of newest heads whose cosignatures are kept, besides those of anchored heads: an hour of a log that grows in every round. */
const HEADS_KEPT = 2_048;

/** Progress of these witnesses, in their order. */
export async function witnessStandings(database: Database, witnesses: readonly string[]): Promise<WitnessStanding[]> {
  const rows = await database.query<WitnessStanding & { cosigned_at: string | null }>({
    name: 'witness standings',
    text: `select witness, old_size, cosigned_size, to_json(cosigned_at) #>> '{}' as cosigned_at, trouble
      from log_witness where witness = any($1)`,
    values: [witnesses],
  });
  const known = new Map(rows.map(row => [row.witness, row]));
  return witnesses.map(witness => known.get(witness) ?? { ...begun, witness });
}

const begun = { old_size: 0, cosigned_size: 0, cosigned_at: null, trouble: null } as const;

/** Stores the result of a round without a cosignature: the size for the next proof, and the trouble. */
export async function noteWitness(
  database: Database,
  { witness, old_size, trouble }: Pick<WitnessStanding, 'witness' | 'old_size' | 'trouble'>,
): Promise<void> {
  await database.query({
    name: 'note witness',
    text: `insert into log_witness (witness, old_size, cosigned_size, trouble) values ($1, $2, 0, $3)
      on conflict (witness) do update set old_size = excluded.old_size, trouble = excluded.trouble`,
    values: [witness, old_size, trouble],
  });
}

/** Stores a verified cosignature and deletes old ones. It may be repeated with the same cosignature. */
export async function keepCosignature(
  database: Database,
  head: HeadName,
  { witness, line }: { readonly witness: string; readonly line: string },
): Promise<void> {
  await database.query({
    name: 'keep cosignature',
    text: `with kept as (
        insert into log_cosignature (tree_size, root_hash, witness, line, at) values ($1, $2, $3, $4, now())
        on conflict (tree_size, witness) do update set root_hash = excluded.root_hash, line = excluded.line),
      forgotten as (
        delete from log_cosignature where tree_size < (
            select min(tree_size) from (
              select distinct tree_size from log_cosignature order by tree_size desc limit ${HEADS_KEPT}) newest)
          and tree_size not in (select tree_size from log_anchor where state in ('mined', 'final')))
      insert into log_witness (witness, old_size, cosigned_size, cosigned_at) values ($3, $1, $1, now())
      on conflict (witness) do update set old_size = excluded.old_size, cosigned_size = excluded.cosigned_size,
        cosigned_at = excluded.cosigned_at, trouble = null`,
    values: [head.tree_size, head.root_hash, witness, line],
  });
}

/** The newest head that a witness has cosigned; null if it has cosigned none. */
export async function lastCosigned(database: Database, witness: string): Promise<HeadName | null> {
  const [head] = await database.query<HeadName>({
    name: 'last cosigned head',
    text: 'select tree_size, root_hash from log_cosignature where witness = $1 order by tree_size desc limit 1',
    values: [witness],
  });
  return head ?? null;
}
