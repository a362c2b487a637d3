import { Migration } from '../../migration.ts';

/** By whom a receipt was paid for, in the log's order: what a wallet is told of its own. */
export class ReceiptsByPayer extends Migration {
  override up(): void {
    this.addSql(
      'create index receipt_payer on receipt (payer_wallet, leaf_index) where payer_wallet is not null and payment_ref is not null',
    );
  }
}
