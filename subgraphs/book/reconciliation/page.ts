import type { JsonObject } from '../../../schema/canonical-json.ts';
import { reconciliationLimits } from '../../../schema/limits.ts';
import { sumsAsJson } from '../../../schema/reconciliation.ts';
import {
  type Classified,
  type ClassSums,
  classifyTransfers,
  type SentTransfer,
  sumClasses,
} from '../../../schema/reconciliation-rule.ts';
import { type Database, insertRows } from '../../database.ts';
import { entryOf } from './entry.ts';
import { type KnownUse, knownUses } from './known-uses.ts';
import { ownAmong } from './own-wallets.ts';
import type { StoredReconciliation } from './reconciliation.entity.ts';

const { listed_transfers_max, page_blocks_max } = reconciliationLimits;

interface Page {
  readonly transfers: readonly SentTransfer[];
  /** The last block of it. */
  readonly to: number;
}

/**
 * Says of each transfer of a page what it is, and writes that down with how far it has come: one transaction, and only where
 * nobody else has done the page meanwhile. Whole blocks, so that what shares a transaction is judged together.
 */
export async function takePage(
  database: Pick<Database, 'query' | 'transaction'>,
  report: StoredReconciliation,
  { transfers, to }: Page,
  base_url: string,
): Promise<void> {
  const asker = { agent_id: report.agentId, signed: report.provenBy === 'signature' };
  const own = await ownAmong(
    database,
    transfers.map(transfer => transfer.to),
    { agent_id: report.agentId, wallets: knownWallets(report) },
  );
  const classified = classifyTransfers(transfers, { own, uses: await knownUses(database, asker, transfers) });
  const sums = sumClasses(sumsIn(report.sums), classified);
  await database.transaction(async tx => {
    const { rowCount } = await tx.query({
      name: 'take page of reconciliation',
      text: `update reconciliation set next_block = $3, transfers = transfers + $4, sums = $5, page_blocks = $6,
          moved_at = clock_timestamp()
        where report_id = $1 and next_block = $2 and state = 'running'`,
      values: [
        report.reportId,
        report.nextBlock,
        to + 1,
        classified.length,
        JSON.stringify(sumsAsJson(sums)),
        // A node that has refused may have been busy: it is asked for a little more each time.
        Math.min(page_blocks_max, Math.ceil(report.pageBlocks * 1.25)),
      ],
    });
    if (rowCount === 1) insertRows(tx, 'reconciliation_transfer', listed(report, classified, base_url));
  });
}

/** Lower-case. */
export function knownWallets({ wallet, agentWallet }: StoredReconciliation): string[] {
  return [...new Set([wallet, ...(agentWallet === null ? [] : [agentWallet])].map(each => each.toLowerCase()))];
}

function listed(
  { reportId: report_id, transfers }: StoredReconciliation,
  classified: readonly Classified<SentTransfer, KnownUse>[],
  base_url: string,
): object[] {
  const room = Math.max(0, listed_transfers_max - transfers);
  return classified
    .slice(0, room)
    .map((each, at) => ({ report_id, place: transfers + at, entry: entryOf(each, base_url) }));
}

function sumsIn(kept: JsonObject): ClassSums {
  const sums = Object.entries(kept as Record<string, { count: number; amount: string }>);
  return Object.fromEntries(
    sums.map(([of, { count, amount }]) => [of, { count, amount: BigInt(amount) }]),
  ) as ClassSums;
}
