import type { AgentId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';

/*
 * Part of the ledger: which row corrects which, and how many do. Nobody is elected here: two corrections that name one row
 * are both kept, and counted as a fork.
 */

export interface Superseding {
  readonly agent_id: AgentId;
  /** Of the correction, which was appended in this transaction. */
  readonly seq: number;
  readonly original_seq: number;
  readonly corrects_seq: number;
  /** Of what it says; null of one that this service wrote by itself. */
  readonly said_hash: string | null;
}

/** What is counted of the whole book stands under this seq, which no row has. */
export const WHOLE_BOOK = 0;

/** Under the head's lock: what is counted is what was counted last. */
export function supersede(tx: Tx, { agent_id, seq, original_seq, corrects_seq, said_hash }: Superseding): void {
  const values = [agent_id, seq, original_seq, corrects_seq, said_hash];
  tx.write({ name: 'supersede', text: SUPERSEDE, values });
}

/** A statement sees no row of its own: `successors` are those before this one. The second of a row makes the fork. */
const SUPERSEDE = `with linked as (
    insert into book_correction (agent_id, seq, original_seq, corrects_seq, said_hash) values ($1, $2, $3, $4, $5)),
  before as (
    select (select count(*) from (
        select from book_correction where agent_id = $1 and corrects_seq = $4 limit 2) two) as successors,
      exists (select from book_supersession where agent_id = $1 and original_seq = $3) as corrected)
  insert into book_supersession as s (agent_id, original_seq, chains, corrections, forks, last_seq)
  select $1, o.original_seq, (not corrected)::int, 1, (successors = 1)::int, $2
  from before cross join (values ($3::int), (${WHOLE_BOOK})) as o(original_seq)
  on conflict (agent_id, original_seq) do update set chains = s.chains + excluded.chains,
    corrections = s.corrections + 1, forks = s.forks + excluded.forks, last_seq = excluded.last_seq`;
