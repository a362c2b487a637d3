import { Migration } from '@mikro-orm/migrations';

/** The journal of anchoring, and the anchored head that a break was declared of. */
export class LogAnchorTable extends Migration {
  override up(): void {
    this.addSql(`create table log_anchor (
      anchor_id text primary key, chain_epoch integer not null, sender text not null, purpose text not null,
      tree_size bigint not null, root_hash text not null, nonce bigint not null, attempts jsonb not null,
      fee_max_wei numeric(78,0) not null, fee_wei numeric(78,0) null, tx_hash text null, block_number bigint null,
      state text not null, at timestamptz not null)`);
    // What several processes may do at once, one of them does: a key has one transaction under way.
    this.addSql(`create unique index log_anchor_open on log_anchor (chain_epoch, sender) where state = 'sent'`);
    this.addSql('create index log_anchor_newest on log_anchor (chain_epoch, sender, at)');
    this.addSql('alter table log_break add column anchored jsonb null');
  }
}
