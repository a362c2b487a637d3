import type { Database } from '../../database.ts';
import type { HeadName } from './tree-head.ts';

export interface JournalledAnchor extends HeadName {
  readonly sender: string;
  readonly tx_hash: string;
  readonly block_number: number;
  /** Behind the finalized block; else its block may yet be replaced. */
  readonly final: boolean;
}

/**
 * The newest head of at most so many leaves that was seen on Base, by the journal of sending: a hint of where to look. The
 * chain alone says whether it stands there. Null where there is none.
 */
export async function newestAnchor(database: Database, size_max: number): Promise<JournalledAnchor | null> {
  const [row] = await database.query<JournalledAnchor>({
    name: 'newest anchor',
    text: `select tree_size, root_hash, sender, tx_hash, block_number, state = 'final' as final from log_anchor
      where chain_epoch = (select max(chain_epoch) from log_anchor) and purpose = 'anchor' and state in ('mined', 'final')
        and tree_size <= $1 and tx_hash is not null and block_number is not null
      order by at desc limit 1`,
    values: [size_max],
  });
  return row ?? null;
}
