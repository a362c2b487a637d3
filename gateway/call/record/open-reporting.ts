import { limits } from '../../../schema/limits.ts';
import type { GenerationReport, ReportOutcome, Reports } from '../../../subgraphs/book/router/reports.ts';
import type { Tx } from '../../../subgraphs/database.ts';
import { GroupCommit } from '../../../subgraphs/group-commit.ts';
import { signedHeadAbove } from '../../../subgraphs/receipt/log/signed-heads.ts';
import { takeKeys } from '../../../subgraphs/receipt/written-once/written-once.ts';
import { leaveHead } from './leave-head.ts';
import {
  prepareReport,
  type RecordedReport,
  type Reporting,
  type ReportingParts,
  recordReports,
} from './record-reports.ts';

/**
 * Receipts of reports, for which nobody paid this service: the same log and rules as for sales. Only a log that this process
 * knows is extended; a response is sent only once its head is saved outside the database; and reports that arrive together share
 * a commit.
 */
export function openReporting(parts: ReportingParts): Reports {
  const { database, known_log, faults } = parts;
  const run = async (tx: Tx, items: readonly Reporting[]) => {
    await takeKeys(
      tx,
      items.map(({ named }) => named),
    );
    const recorded = await recordReports(parts, tx, items);
    await faults?.reach('in_record');
    return recorded;
  };
  const queue = new GroupCommit<Reporting, RecordedReport>(database, run, limits.group_commit_items_max);
  return {
    async record(report: GenerationReport): Promise<ReportOutcome> {
      known_log.requireSound();
      const prepared = prepareReport(parts, report);
      await faults?.reach('before_record');
      const { outcome, tree_head } = await queue.submit({ ...report, prepared });
      if (tree_head === null) return outcome;
      await leaveHead(parts, tree_head);
      return outcome;
    },
    requireSaved: task_id => requireSaved(parts, task_id),
  };
}

/** The process that committed it may have died before saving its head, so the next one to return it saves the head first. */
export async function requireSaved(
  { database, known_log, saved_head }: ReportingParts,
  task_id: string,
): Promise<void> {
  known_log.requireSound();
  const above = await signedHeadAbove(database, task_id, saved_head.tree_size);
  if (above !== null) await saved_head.save(above);
}
