import { Migration } from '../../migration.ts';

/** Payments that were seen, and of which it is not known which transfer of its transaction they are, are found by their transaction. */
export class TotalsUnplacedPayments extends Migration {
  override up(): void {
    this.addSql('create index totals_seen_unplaced on totals_seen (payment_ref) where transfer_index is null');
  }
}
