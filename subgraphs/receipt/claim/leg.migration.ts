import { Migration } from '../../migration.ts';

/** The first of two payments is held with its transfer until its sibling has moved. */
export class HeldLegs extends Migration {
  override up(): void {
    this.addSql(`
      alter table payment_claim add column held_transfer jsonb null;
      create index payment_claim_held on payment_claim (agent_id) where state = 'held';
    `);
  }
}
