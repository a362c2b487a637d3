import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';

/*
 * Merges of branches of a fork. The fork stays and no branch is preferred. The report on the sequence names the correction that
 * merges them.
 */

/** A row that a merging correction names. */
export interface NamedRow {
  readonly task_id: string;
  readonly seq: number;
  /** Seq of the inflow at the start of the chain of corrections. */
  readonly original_seq: number;
  /** Seq of the row that this row corrects. Null for an inflow. */
  readonly corrects_seq: number | null;
  /** Whether a later correction corrects or merges this row. */
  readonly succeeded: boolean;
  /** Whether this row merges other rows, which can be branches themselves. */
  readonly merging: boolean;
}

export type MergeVerdict =
  | { readonly kind: 'merges'; readonly branches: readonly NamedRow[] }
  | { readonly kind: 'one_branch' }
  | { readonly kind: 'other_inflow'; readonly task_id: string }
  | { readonly kind: 'not_a_correction'; readonly task_id: string }
  | { readonly kind: 'no_fork'; readonly branches: readonly NamedRow[] };

/**
 * Decides which branches are merged: the rows named by `merges`, and the corrected row unless all of them correct it. Rows are
 * branches of a fork if they correct the same row, or if none of them has a successor. A branch can follow another one only if it
 * has merged it.
 */
export function judgeMerge(corrected: NamedRow, others: readonly NamedRow[]): MergeVerdict {
  const others_by_seq = new Map(others.map(row => [row.seq, row]));
  const forks_here = others_by_seq.size > 1 && others.every(({ corrects_seq }) => corrects_seq === corrected.seq);
  const named = forks_here ? others_by_seq : others_by_seq.set(corrected.seq, corrected);
  const branches = [...named.values()].toSorted((one, other) => one.seq - other.seq);
  if (branches.length < 2) return { kind: 'one_branch' };
  const foreign = branches.find(({ original_seq }) => original_seq !== corrected.original_seq);
  if (foreign) return { kind: 'other_inflow', task_id: foreign.task_id };
  const inflow = branches.find(({ corrects_seq }) => corrects_seq === null);
  if (inflow) return { kind: 'not_a_correction', task_id: inflow.task_id };
  const of_one_row = new Set(branches.map(({ corrects_seq }) => corrects_seq)).size === 1;
  const siblings = of_one_row && !branches.some(({ merging }) => merging);
  return siblings || branches.every(({ succeeded }) => !succeeded)
    ? { kind: 'merges', branches }
    : { kind: 'no_fork', branches };
}

type Refused = Exclude<MergeVerdict, { kind: 'merges' }>;

const details: { readonly [K in Refused['kind']]: (verdict: Refused & { readonly kind: K }) => string } = {
  one_branch: () => 'merges must name at least two different branches of a fork. task_id counts as one of them.',
  other_inflow: ({ task_id }) => `merges names ${task_id}, which corrects another inflow.`,
  not_a_correction: ({ task_id }) => `merges names ${task_id}, which is an inflow and corrects no row.`,
  no_fork: () =>
    'merges must name corrections that all correct the same row, or corrections that have not themselves been corrected or merged.',
};

/** @throws invalid_request if the named rows are not branches of a fork */
export function requireBranches(verdict: MergeVerdict): void {
  if (verdict.kind === 'merges') return;
  const detail = details[verdict.kind](verdict as never);
  throw new Refusal('invalid_request', { param: 'merges', detail });
}

/**
 * Judges the merge by a correction of `task_id` that names `merges`.
 * @throws inflow_not_found if one of them is not an inflow or a correction of the book
 */
export async function mergeOf(
  database: Pick<Database, 'query'>,
  agent_id: AgentId,
  { task_id, merges }: { readonly task_id: string; readonly merges: readonly string[] },
): Promise<MergeVerdict> {
  const found = await database.query<NamedRow>({
    name: 'rows to merge',
    text: NAMED,
    values: [agent_id, [task_id, ...merges]],
  });
  const rows = new Map(found.map(row => [row.task_id, row]));
  const rowOf = (name: string, param: 'task_id' | 'merges') => {
    const row = rows.get(name);
    if (row === undefined) throw new Refusal('inflow_not_found', { param });
    return row;
  };
  return judgeMerge(
    rowOf(task_id, 'task_id'),
    merges.map(name => rowOf(name, 'merges')),
  );
}

/** Branches that a verdict names, in the order of seq. Empty if it names none. */
export function mergedBranches(verdict: MergeVerdict): readonly NamedRow[] {
  return 'branches' in verdict ? verdict.branches : [];
}

const NAMED = `select r.task_id, r.seq, coalesce(c.original_seq, r.seq) as original_seq, c.corrects_seq,
    exists (select from book_correction n where n.agent_id = r.agent_id and n.corrects_seq = r.seq)
      or exists (select from book_merge m where m.agent_id = r.agent_id and m.merged_seq = r.seq) as succeeded,
    exists (select from book_merge m where m.agent_id = r.agent_id and m.seq = r.seq) as merging
  from book_row r left join book_correction c using (agent_id, seq)
  where r.agent_id = $1 and r.task_id = any($2) and r.evidence = 'inflow_claimed'`;
