import { Migration } from '../../migration.ts';

/** What open payments hold under delegated sessions is found by these; of a payment without a grant it has nothing. */
export class PaidUnderSessions extends Migration {
  override up(): void {
    this.addSql(`
      create index payment_claim_under on payment_claim using gin ((landing->'delegation'->'path'))
        where state in ('claimed', 'settling', 'held') and landing ? 'delegation';
    `);
  }
}
