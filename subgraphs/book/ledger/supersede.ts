import type { AgentId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';

/*
 * Records which row corrects which. No correction is preferred over another: two corrections of the same row are counted as a fork.
 * A merge is a successor of each row that it names, and the fork stays counted.
 */

export interface Supersession {
  readonly agent_id: AgentId;
  /** Seq of the correction, appended in this transaction. */
  readonly seq: number;
  readonly original_seq: number;
  readonly corrects_seq: number;
  /** Seqs of the rows that the correction merges. Empty if it merges none. */
  readonly merged_seqs: readonly number[];
  /** Hash of the content of the correction. Null for a correction by this service. */
  readonly said_hash: string | null;
}

/** Key of the counts of the whole book. No row has this seq. */
export const WHOLE_BOOK = 0;

/**
 * Stores a correction, and the counts of its chain and its book. Requires the head's lock, so that the counts that it reads are the
 * latest.
 */
export function supersede(
  tx: Tx,
  { agent_id, seq, original_seq, corrects_seq, merged_seqs, said_hash }: Supersession,
): void {
  const values = [agent_id, seq, original_seq, corrects_seq, said_hash, merged_seqs];
  tx.write({ name: 'supersede', text: SUPERSEDE, values });
}

/**
 * A statement does not see the rows that it inserts, so `successors` counts earlier corrections only. The first successor of a row
 * ends a tip, and the second one makes a fork. If a forked chain has one tip left, all of its branches were merged.
 */
const SUPERSEDE = `with linked as (
    insert into book_correction (agent_id, seq, original_seq, corrects_seq, said_hash) values ($1, $2, $3, $4, $5)),
  merged as (
    insert into book_merge (agent_id, merged_seq, seq) select $1, m.seq, $2 from unnest($6::int[]) as m(seq)),
  named as (
    select (select count(*) from (
        (select seq from book_correction where agent_id = $1 and corrects_seq = n.seq limit 2)
        union (select seq from book_merge where agent_id = $1 and merged_seq = n.seq limit 2)) two) as successors
    from (select $4::int as seq union select unnest($6::int[])) n),
  before as (
    select count(*) filter (where successors = 1)::int as forked, count(*) filter (where successors = 0)::int as ended,
      exists (select from book_supersession where agent_id = $1 and original_seq = $3) as corrected,
      case when cardinality($6::int[]) > 0 then $2::int end as merge_seq
    from named)
  insert into book_supersession as s
    (agent_id, original_seq, chains, corrections, forks, tips, tips_of, last_seq, last_merge_seq)
  select $1, o.original_seq, (not corrected)::int, 1, forked, (not corrected)::int + 1 - ended, 1, $2, merge_seq
  from before cross join (values ($3::int), (${WHOLE_BOOK})) as o(original_seq)
  on conflict (agent_id, original_seq) do update set chains = s.chains + excluded.chains,
    corrections = s.corrections + 1, forks = s.forks + excluded.forks, tips = s.tips + excluded.tips,
    tips_of = case when s.tips_of = s.corrections then s.corrections + 1 end,
    last_seq = excluded.last_seq, last_merge_seq = coalesce(excluded.last_merge_seq, s.last_merge_seq)`;
