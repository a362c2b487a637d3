import { type Database, openDatabase } from '../../subgraphs/database.ts';
import {
  type Issuer,
  issueReceipts,
  lockLogHead,
  prepareReceipt,
  type Receipt,
  receiptEntities,
  receiptMigrations,
  type SignedTreeHead,
} from '../../subgraphs/receipt/index.ts';
import { freshDatabase } from '../harness/database.ts';
import { paidCall } from '../vectors/receipt-facts.ts';

export interface ReceiptDatabase extends Database {
  /** Issues one receipt per name, in one transaction, as the ledger does. */
  issue(issuer: Issuer, ...names: string[]): Promise<{ receipts: Receipt[]; head: SignedTreeHead }>;
}

/** A database of its own; the caller closes it. */
export async function receiptDatabase(): Promise<ReceiptDatabase> {
  const database = await openDatabase({
    url: (await freshDatabase()).url,
    entities: receiptEntities,
    migrations: receiptMigrations,
    connections_max: 10,
  });
  return Object.assign(database, {
    async issue(issuer: Issuer, ...names: string[]) {
      const prepared = names.map(name => prepareReceipt(issuer, { ...paidCall, task_id: name }));
      return database.transaction(async tx => {
        const log = await lockLogHead(tx);
        const items = prepared.map((each, index) => ({ prepared: each, book_seq: index + 1 }));
        const receipts = await issueReceipts(tx, log, issuer, items);
        return { receipts, head: await log.store(tx, issuer) };
      });
    },
  });
}
