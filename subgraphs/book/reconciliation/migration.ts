import { Migration } from '../../migration.ts';

/** Reconciliations: one of an agent at a time, each with how far it has come. */
export class ReconciliationBaseline extends Migration {
  /** What made the same. */
  static readonly replaces: readonly string[] = ['Reconciliations'];

  override up(): void {
    this.addSql(`
      create table reconciliation (
        report_id text primary key, agent_id integer not null, wallet text not null, agent_wallet text null,
        proven_by text not null, from_block integer not null, to_block integer not null, state text not null,
        reason text null, next_block integer not null, page_blocks integer not null, from_hash text null,
        to_hash text null, log_size bigint not null, transfers integer not null, sums jsonb not null,
        asked_at timestamptz not null, moved_at timestamptz not null, ended_at timestamptz null, document text null);
      create index reconciliation_asked on reconciliation (agent_id, asked_at);
      create unique index reconciliation_running on reconciliation (agent_id) where state = 'running';

      create table reconciliation_transfer (
        report_id text not null, place integer not null, entry jsonb not null, primary key (report_id, place));
    `);
  }
}
