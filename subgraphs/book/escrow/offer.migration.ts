import { Migration } from '../../migration.ts';

/** Of which escrows the webhook of a counterparty was told, and when. */
export class EscrowOffers extends Migration {
  override up(): void {
    this.addSql(`
      alter table a2a_escrow add column offer_told_at timestamptz null;
      create index a2a_escrow_told on a2a_escrow (counterparty_agent_id, offer_told_at) where offer_told_at is not null;
    `);
  }
}
