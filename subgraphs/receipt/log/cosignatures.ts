import type { Database } from '../../database.ts';
import type { HeadName } from './tree-head.ts';

/**
 * Why a witness cosigns nothing newer. `refused`: it says that the log does not extend what it has cosigned. `ahead`: it has cosigned more
 * than this log holds. `lied`: its answer is not a cosignature of its own. `unknown_log`: it does not watch this log, or knows none of its
 * keys. `away`: it does not answer.
 */
export type WitnessTrouble = 'refused' | 'ahead' | 'lied' | 'unknown_log' | 'away';

/** How far a witness has come, as all processes know it. */
export interface WitnessStanding {
  /** Its verifier key. */
  readonly witness: string;
  /** From which size it takes a proof next. */
  readonly old_size: number;
  readonly cosigned_size: number;
  /** ISO 8601; null before the first. */
  readonly cosigned_at: string | null;
  readonly trouble: WitnessTrouble | null;
}

/** Heads whose cosignatures are kept, besides those on Base: an hour of a log that grows at every round. */
const HEADS_KEPT = 2_048;

/** Standings of these witnesses, in their order. */
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

/** Nothing was cosigned: stores the size from which it goes on, and the trouble. */
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

/** Keeps a verified cosignature, and forgets old ones. Keeping the same one again has no effect. */
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
