import { canonicalJson } from '../../../schema/canonical-json.ts';
import { asEntity, asRecord, selectList } from '../../columns.ts';
import type { Database, Tx } from '../../database.ts';
import { BoardCompletion } from './completion.entity.ts';

/* The table of completions, with one row for each source and id. */

type CompletionName = Pick<BoardCompletion, 'source' | 'externalId'>;

export async function readCompletions(
  reads: Pick<Database, 'query'>,
  names: readonly CompletionName[],
): Promise<BoardCompletion[]> {
  const found = await reads.query({
    name: 'board completions',
    text: `select ${selectList(BoardCompletion)} from board_completion
      where (source, external_id) in (select * from unnest($1::text[], $2::text[]))`,
    values: namesOf(names),
  });
  return found.map(row => asEntity(BoardCompletion, row));
}

export const isSameCompletion = (one: CompletionName, other: CompletionName): boolean =>
  one.source === other.source && one.externalId === other.externalId;

/** Whether both reports have the same content. */
export function isSameReport({ said }: BoardCompletion, other: Pick<BoardCompletion, 'said'>): boolean {
  return canonicalJson(said) === canonicalJson(other.said);
}

/**
 * Stores the completions whose source and id are free, and returns their task ids. All processes take the names in the same order, so that
 * no two wait for each other.
 */
export async function takeCompletions(tx: Tx, completions: readonly BoardCompletion[]): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ task_id: string }>({
    name: 'take board completions',
    text: `insert into board_completion (source, external_id, task_id, said, transfer, seen_in, recorded_at)
      select source, external_id, task_id, said, nullif(transfer, 'null'), nullif(seen_in, 'null'), recorded_at
      from jsonb_populate_recordset(null::board_completion, $1::jsonb) order by source, external_id
      on conflict (source, external_id) do nothing returning task_id`,
    values: [JSON.stringify(completions.map(asRecord))],
  });
  return new Set(rows.map(({ task_id }) => task_id));
}

/** Deletes completions that this transaction has stored and does not record after all. */
export function dropCompletions(tx: Tx, completions: readonly CompletionName[]): void {
  if (completions.length === 0) return;
  tx.write({
    name: 'drop board completions',
    text: `delete from board_completion
      where (source, external_id) in (select * from unnest($1::text[], $2::text[]))`,
    values: namesOf(completions),
  });
}

function namesOf(names: readonly CompletionName[]): [string[], string[]] {
  return [names.map(({ source }) => source), names.map(({ externalId }) => externalId)];
}
