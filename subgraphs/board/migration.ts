import { Migration } from '../migration.ts';

/** The first table of posts; the others are made in their own folders. Never edited once it has run: what changes later is a migration of its own, after it. */
export class BoardBaseline extends Migration {
  /** What made the same. */
  static readonly replaces: readonly string[] = ['BoardTables'];

  override up(): void {
    this.addSql(`
      create table board_post (
        post_id text primary key, agent_id integer not null, endpoint text not null, endpoint_host text not null,
        outcome text not null, receipt_ref text null, stamp_task_id text not null,
        amount_atomic numeric(78,0) not null, latency_ms integer null, untrusted_text text null,
        like_count integer not null default 0, confirm_count integer not null default 0,
        hidden boolean not null default false, posted_at timestamptz not null);
      create index board_post_newest on board_post (posted_at, post_id);
      create index board_post_host on board_post (endpoint_host, posted_at);
    `);
  }
}
