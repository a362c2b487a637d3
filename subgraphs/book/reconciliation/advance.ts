import { reconciliationLimits } from '../../../schema/limits.ts';
import type { ReconciliationFault } from '../../../schema/reconciliation.ts';
import type { Database } from '../../database.ts';
import { countedLeaves } from '../../receipt/totals/payments.ts';
import type { BookContext } from '../context.ts';
import { readBooks } from '../ledger/append.ts';
import { continueWaiting, failReconciliation, finish } from './end.ts';
import { reconciliationById } from './find.ts';
import { takePage } from './page.ts';
import type { StoredReconciliation } from './reconciliation.entity.ts';
import type { SentTransfers } from './sent-transfers.ts';

export interface AdvanceParts extends Pick<BookContext, 'issuer' | 'profile'> {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly chain: SentTransfers;
}

/** What follows a turn of a job: nothing, the next turn immediately, or the next turn after a pause. */
export type AdvanceOutcome = 'ended' | 'goes_on' | 'rests';

/** Result of one step. `moved`: the report has advanced. `narrowed`: its pages were made smaller. */
type Step =
  | { readonly kind: 'moved' | 'narrowed' | 'ended' }
  | { readonly kind: 'waits'; readonly for: ReconciliationFault }
  | { readonly kind: 'fails'; readonly by: ReconciliationFault };

/**
 * Reads some pages of a report. All progress is stored in the database. After a crash the report continues from its last page, and
 * of two concurrent jobs only one writes each page.
 */
export async function advance(parts: AdvanceParts, report_id: string, signal: AbortSignal): Promise<AdvanceOutcome> {
  const { pages_per_turn_max } = reconciliationLimits;
  for (let pages = 0; pages < pages_per_turn_max && !signal.aborted; pages++) {
    const report = await reconciliationById(parts.database, report_id);
    if (report?.state !== 'running') return 'ended';
    const step = await stepOf(parts, report);
    if (step.kind === 'ended') return 'ended';
    if (step.kind === 'waits') return (await continueWaiting(parts.database, report, step.for)) ? 'rests' : 'ended';
    if (step.kind === 'fails') {
      await failReconciliation(parts.database, report, step.by);
      return 'ended';
    }
  }
  return 'goes_on';
}

async function stepOf(parts: AdvanceParts, report: StoredReconciliation): Promise<Step> {
  const { database } = parts;
  const head = (await database.transaction(tx => readBooks(tx, [report.agentId]))).get(report.agentId);
  if (head?.damaged !== false) return { kind: 'fails', by: 'book_damaged' };
  if (report.fromHash === null) return begin(parts, report);
  if (report.nextBlock > report.toBlock) return end(parts, report);
  if ((await countedLeaves(database)) < report.logSize) return { kind: 'waits', for: 'receipts_behind' };
  return readPage(parts, report);
}

/** Stores the block hashes of both ends of the range. */
async function begin({ database, chain }: AdvanceParts, { reportId, fromBlock, toBlock }: StoredReconciliation) {
  const ends = await chain.ends(fromBlock, toBlock);
  if (ends.kind === 'absent') return { kind: 'fails', by: 'block_absent' } as const;
  if (ends.kind === 'unreachable') return AWAY;
  await database.query({
    name: 'name ends of reconciliation',
    text: 'update reconciliation set from_hash = $2, to_hash = $3 where report_id = $1 and from_hash is null',
    values: [reportId, ends.from_hash, ends.to_hash],
  });
  return { kind: 'moved' } as const;
}

/** Signs the report if the chain still has the same blocks at both ends of the range. */
async function end(parts: AdvanceParts, report: StoredReconciliation): Promise<Step> {
  const { database, chain, issuer, profile } = parts;
  const ends = await chain.ends(report.fromBlock, report.toBlock);
  if (ends.kind === 'unreachable') return AWAY;
  if (ends.kind === 'absent' || ends.from_hash !== report.fromHash || ends.to_hash !== report.toHash)
    return { kind: 'fails', by: 'reorganised' };
  // Another process with a key in force takes the job.
  if (issuer.standing !== 'in_force') return { kind: 'waits', for: 'interrupted' };
  await finish(database, { issuer, profile }, report, ends);
  return { kind: 'ended' };
}

async function readPage({ database, chain, issuer }: AdvanceParts, report: StoredReconciliation): Promise<Step> {
  const { nextBlock, toBlock, pageBlocks, wallet } = report;
  const to = Math.min(toBlock, nextBlock + pageBlocks - 1);
  const page = await chain.transfersOf(wallet, nextBlock, to);
  const whole = page.kind === 'read' && page.transfers.length <= reconciliationLimits.page_transfers_max;
  if (page.kind === 'read' && (whole || pageBlocks === 1)) {
    await takePage(database, report, { transfers: page.transfers, to }, issuer.base_url);
    return { kind: 'moved' };
  }
  await narrow(database, report);
  // A node that was too slow or cut off its response may manage half the range, but an immediate retry would fail again.
  return page.kind === 'unreachable' || pageBlocks === 1 ? AWAY : { kind: 'narrowed' };
}

async function narrow(database: AdvanceParts['database'], { reportId, pageBlocks }: StoredReconciliation) {
  await database.query({
    name: 'narrow reconciliation',
    text: 'update reconciliation set page_blocks = $3 where report_id = $1 and page_blocks = $2',
    values: [reportId, pageBlocks, Math.ceil(pageBlocks / 2)],
  });
}

const AWAY = { kind: 'waits', for: 'chain_unavailable' } as const;
