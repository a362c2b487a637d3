import { Migration } from '@mikro-orm/migrations';

export class PaymentTables extends Migration {
  override up(): void {
    this.addSql(`create table payment_claim (
      claim_key text primary key,
      state text not null,
      field text not null,
      request_hash text not null,
      task_id text not null constraint payment_claim_task_id unique,
      agent_id integer null,
      lease_owner uuid null,
      lease_epoch integer not null default 0,
      network text not null,
      payer text not null,
      payment_id text not null,
      amount_atomic numeric(78,0) not null,
      reserved_atomic numeric(78,0) not null,
      valid_before bigint not null,
      "authorization" jsonb not null,
      landing jsonb not null,
      request_box bytea not null,
      answer_box bytea null,
      settlement_id text null,
      from_block bigint null,
      reason text null,
      final boolean not null default false,
      looked_at timestamptz null,
      claimed_at timestamptz not null,
      moved_at timestamptz not null
    )`);
    this.addSql('create index payment_claim_payment_id on payment_claim (payment_id)');
    this.addSql('create index payment_claim_settlement on payment_claim (settlement_id)');
    // Small for ever: what reconcile looks through, not what has been recorded.
    this.addSql(`create index payment_claim_open on payment_claim (moved_at) where state in ('claimed', 'settling')`);
    this.addSql(
      `create index payment_claim_released on payment_claim (valid_before) where state = 'released' and not final`,
    );
    this.addSql(
      `create index payment_claim_answers on payment_claim (moved_at) where state = 'recorded' and request_box <> ''`,
    );
    this.addSql('create table claim_slot (slot text primary key, claim_key text not null)');
    this.addSql('create index claim_slot_claim on claim_slot (claim_key)');
    this.addSql(`create table chain_epoch (
      network text not null,
      epoch integer not null,
      genesis_hash text not null,
      last_block bigint not null,
      last_hash text not null,
      started_at timestamptz not null,
      primary key (network, epoch)
    )`);
    this.addSql('create table process_lease (owner uuid primary key, expires_at timestamptz not null)');
  }
}
