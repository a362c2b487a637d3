import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { checksummedAddress } from '../../../schema/eip55.ts';
import { reconciliationLimits } from '../../../schema/limits.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { sumsAsJson } from '../../../schema/reconciliation.ts';
import {
  type ClassSums,
  classifyTransfers,
  type SentTransfer,
  sumClasses,
  type TransferClassification,
} from '../../../schema/reconciliation-rule.ts';
import { type Database, insertRows } from '../../database.ts';
import { type KnownUse, knownUses } from './known-uses.ts';
import type { StoredReconciliation } from './reconciliation.entity.ts';

const { listed_transfers_max, page_blocks_max } = reconciliationLimits;

interface Page {
  readonly transfers: readonly SentTransfer[];
  /** Last block of the page. */
  readonly to: number;
}

/**
 * Classifies the transfers of a page and stores them with the progress in one transaction, unless another job has already done so.
 * Pages are whole blocks, so that transfers of one transaction are classified together.
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
        // The page size grows again slowly, because a node that refused a page may only have been busy.
        Math.min(page_blocks_max, Math.ceil(report.pageBlocks * 1.25)),
      ],
    });
    if (rowCount === 1) insertRows(tx, 'reconciliation_transfer', entriesToList(report, classified, base_url));
  });
}

/** Known wallets of the agent, in lower case. */
export function knownWallets({ wallet, agentWallet }: StoredReconciliation): string[] {
  return [...new Set([wallet, ...(agentWallet === null ? [] : [agentWallet])].map(each => each.toLowerCase()))];
}

function entriesToList(
  { reportId: report_id, transfers }: StoredReconciliation,
  classified: readonly TransferClassification<SentTransfer, KnownUse>[],
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

/** Transfer in the form in which the document lists it. Unknown or private members are absent. */
function entryOf(classified: TransferClassification<SentTransfer, KnownUse>, base_url: string): JsonObject {
  const { class: of, transfer, use } = classified;
  const { block_number, log_index, tx_hash, to, amount } = transfer;
  return {
    block_number,
    log_index,
    tx_hash,
    payee: checksummedAddress(to),
    amount: amount.toString(),
    class: of,
    ...(use && { used: usedBy(use, base_url) }),
  };
}

function usedBy({ kind, book, task_id }: KnownUse, base_url: string): JsonObject {
  return present({
    by: kind,
    book: book ?? 'none',
    task_id: task_id ?? undefined,
    verify_url: task_id === null ? undefined : verifyUrl(base_url, task_id),
  });
}

interface Payer {
  readonly agent_id: number;
  /** Known wallets, in lower case. */
  readonly wallets: readonly string[];
}

/**
 * Payees that belong to the payer, in lower case: the known wallets, and wallets that paid for calls of the same agent. A payment
 * to others that was only reported does not prove this.
 */
export async function ownAmong(
  database: Pick<Database, 'query'>,
  payees: readonly string[],
  { agent_id, wallets }: Payer,
): Promise<ReadonlySet<string>> {
  const known = new Set(wallets);
  const others = [...new Set(payees)].filter(payee => !known.has(payee));
  if (others.length === 0) return known;
  const paid = await database.query<{ wallet: string }>({
    name: 'payees that pay for an agent',
    text: `select p.wallet from unnest($2::text[]) as p(wallet) where exists (
      select from (
        select r.agent_id, r.book_seq from receipt r where r.payer_wallet = p.wallet and r.payment_ref is not null
        order by r.leaf_index desc limit $3) newest
      join book_row b on b.agent_id = newest.agent_id and b.seq = newest.book_seq
      where newest.agent_id = $1 and b.collected and b.evidence <> 'foreign_ingest')`,
    values: [agent_id, others.map(checksummedAddress), reconciliationLimits.payer_receipts_looked_at_max],
  });
  return new Set([...wallets, ...paid.map(({ wallet }) => wallet.toLowerCase())]);
}
