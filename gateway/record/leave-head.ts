import type { KnownLog } from '../../subgraphs/receipt/log/known-log.ts';
import type { SavedHead } from '../../subgraphs/receipt/log/saved-head.ts';
import type { SignedTreeHead } from '../../subgraphs/receipt/log/tree-head.ts';
import type { Faults } from '../operations/faults.ts';

interface HeadParts {
  readonly known_log: KnownLog;
  readonly saved_head: SavedHead;
  readonly faults: Faults | null;
}

/** What is committed is known here, then outside the database: an answer goes out only once its head is saved there. */
export async function leaveHead(
  { known_log, saved_head, faults }: HeadParts,
  tree_head: SignedTreeHead,
): Promise<void> {
  known_log.committed(tree_head);
  await faults?.reach('after_record');
  await saved_head.save(tree_head);
}
