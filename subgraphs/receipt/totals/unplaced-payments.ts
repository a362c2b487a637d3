import { Migration } from '../../migration.ts';

/** Finds, by its transaction, a payment that was seen while it is unknown which transfer of the transaction it is. */
export class TotalsUnplacedPayments extends Migration {
  override up(): void {
    this.addSql('create index totals_seen_unplaced on totals_seen (payment_ref) where transfer_index is null');
  }
}
