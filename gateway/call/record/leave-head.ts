import { Refusal } from '../../../schema/errors.ts';
import type { KnownBooks } from '../../../subgraphs/book/heads/known-books.ts';
import { DatabaseAway } from '../../../subgraphs/outage.ts';
import type { KnownLog } from '../../../subgraphs/receipt/log/known-log.ts';
import type { SavedHead } from '../../../subgraphs/receipt/log/saved-head.ts';
import type { SignedTreeHead } from '../../../subgraphs/receipt/log/tree-head.ts';
import type { Faults } from '../../operations/faults.ts';

interface HeadParts {
  readonly known_books: Pick<KnownBooks, 'whenSaved'>;
  readonly known_log: KnownLog;
  readonly saved_head: SavedHead;
  readonly faults: Faults | null;
}

/**
 * Publishes a committed head to this process, then saves it outside the database with the heads of its books, since a response is
 * sent only afterwards. @throws DatabaseAway in doubt if one cannot be saved: it is committed, and may be lost with the database
 */
export async function leaveHead(
  { known_books, known_log, saved_head, faults }: HeadParts,
  tree_head: SignedTreeHead,
): Promise<void> {
  known_log.addCommit(tree_head);
  await faults?.reach('after_record');
  await Promise.all([savedHeadOf(saved_head, tree_head), known_books.whenSaved()]);
}

async function savedHeadOf(saved_head: SavedHead, tree_head: SignedTreeHead): Promise<void> {
  try {
    await saved_head.save(tree_head);
  } catch (cause) {
    throw cause instanceof Refusal ? cause : new DatabaseAway(cause, { in_doubt: true });
  }
}
