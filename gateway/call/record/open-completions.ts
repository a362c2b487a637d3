import { limits } from '../../../schema/limits.ts';
import type { CompletionOutcome, Completions } from '../../../subgraphs/board/inbound/completions.ts';
import type { Tx } from '../../../subgraphs/database.ts';
import { GroupCommit } from '../../../subgraphs/group-commit.ts';
import { takeKeys } from '../../../subgraphs/receipt/written-once/written-once.ts';
import { leaveHead } from './leave-head.ts';
import { requireSaved } from './open-reporting.ts';
import { type CompletedReport, type Completing, prepareCompletion, recordCompletions } from './record-completions.ts';
import type { ReportingParts } from './record-reports.ts';

/**
 * Receipts of work completed elsewhere: the same log and rules as for sales. A response is sent only once its head is saved
 * outside the database.
 */
export function openCompletions(parts: ReportingParts): Completions {
  const { database, known_log, faults } = parts;
  const run = async (tx: Tx, items: readonly Completing[]) => {
    await takeKeys(
      tx,
      items.map(({ named }) => named),
    );
    const recorded = await recordCompletions(parts, tx, items);
    await faults?.reach('in_record');
    return recorded;
  };
  const queue = new GroupCommit<Completing, CompletedReport>(database, run, limits.group_commit_items_max);
  return {
    async record(completion, named): Promise<CompletionOutcome> {
      known_log.requireSound();
      const prepared = prepareCompletion(parts, completion);
      await faults?.reach('before_record');
      const { outcome, tree_head } = await queue.submit({ completion, named, prepared });
      if (tree_head === null) return outcome;
      await leaveHead(parts, tree_head);
      return outcome;
    },
    requireSaved: task_id => requireSaved(parts, task_id),
  };
}
