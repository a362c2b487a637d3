import { Migration } from '../../migration.ts';

/**
 * How often the work of a payment was done once more, and what came of it beside its receipt: a payer without a book has no row that
 * could be corrected.
 */
export class CountedReruns extends Migration {
  override up(): void {
    this.addSql(`
      alter table payment_claim add column reruns integer not null default 0;
      alter table receipt add column answered_again jsonb null;
    `);
  }
}
