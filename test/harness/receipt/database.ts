import { type Database, openDatabase } from '../../../subgraphs/database.ts';
import { receiptEntities, receiptMigrations } from '../../../subgraphs/receipt/index.ts';
import { type Issuer } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import { lockLogHead } from '../../../subgraphs/receipt/log/head.ts';
import { KnownLog } from '../../../subgraphs/receipt/log/known-log.ts';
import { type SignedTreeHead } from '../../../subgraphs/receipt/log/tree-head.ts';
import { issueReceipts, prepareReceipt } from '../../../subgraphs/receipt/receipt/issue.ts';
import { type Receipt } from '../../../subgraphs/receipt/receipt/receipt.entity.ts';
import type { ReceiptFacts } from '../../../subgraphs/receipt/receipt/receipt-facts.ts';
import { freshDatabase } from '../database.ts';
import { paidCall } from '../vectors/receipt-facts.ts';

export interface ReceiptDatabase extends Database {
  /** URL of the database, for a process that a test starts. */
  readonly url: string;
  /** Issues one receipt for each name in one transaction, as the ledger does. */
  issue(issuer: Issuer, ...names: string[]): Promise<IssuedReceipts>;
  /** Issues receipts of calls that differ by more than their names. */
  issueCalls(issuer: Issuer, calls: readonly ReceiptFacts[]): Promise<IssuedReceipts>;
}

interface IssuedReceipts {
  readonly receipts: Receipt[];
  readonly head: SignedTreeHead;
}

/** A database that only the caller uses. The caller closes it. */
export async function receiptDatabase(): Promise<ReceiptDatabase> {
  const { url } = await freshDatabase();
  const database = await openDatabase({
    url,
    entities: receiptEntities,
    migrations: receiptMigrations,
    connections_max: 10,
  });
  return Object.assign(database, {
    url,
    issue(issuer: Issuer, ...names: string[]): Promise<IssuedReceipts> {
      return this.issueCalls(
        issuer,
        names.map(task_id => ({ ...paidCall, task_id })),
      );
    },
    async issueCalls(issuer: Issuer, calls: readonly ReceiptFacts[]): Promise<IssuedReceipts> {
      const prepared = calls.map(call => prepareReceipt(issuer, call));
      return database.transaction(async tx => {
        const log = await lockLogHead(tx, new KnownLog());
        const items = prepared.map((each, index) => ({ prepared: each, book_seq: index + 1 }));
        const receipts = issueReceipts(tx, log, issuer, items);
        return { receipts, head: log.store(tx, issuer) };
      });
    },
  });
}
