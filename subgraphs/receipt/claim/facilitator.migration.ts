import { Migration } from '@mikro-orm/migrations';

/** Settlements that a facilitator carries, and payments that it vouches for before we have seen them. */
export class FacilitatorTables extends Migration {
  override up(): void {
    this.addSql(`alter table settlement add column posts integer not null default 0,
      add column posted_at timestamptz null, add column vouched_tx text null`);
    this.addSql(
      `create index settlement_posted on settlement (posted_at) where state = 'sent' and posted_at is not null`,
    );
    // A facilitator may carry several of our settlements in one transaction.
    this.addSql(`alter table settlement_attempt drop constraint settlement_attempt_pkey,
      add primary key (settlement_id, tx_hash)`);
    this.addSql('drop index settlement_attempt_settlement');
    this.addSql('alter table payment_claim add column arrival text null');
    // Small for ever: what is still looked for, not what has come.
    this.addSql(`create index payment_claim_arrival on payment_claim (looked_at) where arrival = 'pending'`);
    this.addSql('alter table receipt add column ingress_receipt jsonb null, add column omission_rule text null');
  }
}
