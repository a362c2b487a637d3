import { Migration } from '@mikro-orm/migrations';

export class SettlementTables extends Migration {
  override up(): void {
    this.addSql('create table settler_key (address text primary key, next_nonce bigint not null)');
    this.addSql(`create table settlement (
      settlement_id text primary key,
      key_address text not null,
      authorizations integer not null,
      from_block bigint not null,
      valid_before_max bigint not null,
      state text not null,
      block_number bigint null,
      block_hash text null,
      created_at timestamptz not null
    )`);
    // What is still to be watched stays small; final settlements are not looked at again.
    this.addSql(`create index settlement_sent on settlement (key_address) where state = 'sent'`);
    this.addSql(`create index settlement_mined on settlement (block_number) where state = 'mined'`);
    this.addSql(`create table settlement_attempt (
      tx_hash text primary key,
      settlement_id text not null,
      nonce bigint not null,
      raw text not null,
      max_fee_wei numeric(78,0) not null,
      priority_fee_wei numeric(78,0) not null,
      created_at timestamptz not null
    )`);
    this.addSql('create index settlement_attempt_settlement on settlement_attempt (settlement_id)');
  }
}
