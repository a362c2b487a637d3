import { Migration } from '../../migration.ts';

/** Payments whose settlement the final chain did not have where it was seen. */
export class DoubtedPayments extends Migration {
  override up(): void {
    this.addSql(`
      create table doubted_payment (
        claim_key text primary key, network text not null, doubted_at timestamptz not null, looked_at timestamptz not null);
      create index doubted_payment_looked_at on doubted_payment (looked_at);
    `);
  }
}
