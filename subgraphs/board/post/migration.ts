import { Migration } from '../../migration.ts';

/* Takedown, rail and host_basis of posts; the tables of comments and flags. */

/** What a post says of its receipt and of its end; comments, and flags of either. */
export class BoardPosts extends Migration {
  override up(): void {
    this.addSql(`
      alter table board_post alter endpoint drop not null, add host_basis text not null default 'declared',
        add rail text not null default 'usdc', add taken_down_at timestamptz null;
      drop index board_post_newest;
      drop index board_post_host;
      create index board_post_newest on board_post (post_id) where not hidden and taken_down_at is null;
      create index board_post_host on board_post (endpoint_host, post_id) where not hidden and taken_down_at is null;
      create index board_post_outcome on board_post (outcome, post_id) where not hidden and taken_down_at is null;
      create index board_post_host_outcome on board_post (endpoint_host, outcome, post_id)
        where not hidden and taken_down_at is null;
      create table board_comment (
        comment_id text primary key, post_id text not null, agent_id integer not null, stamp_task_id text not null,
        untrusted_text text null, hidden boolean not null default false, taken_down_at timestamptz null,
        posted_at timestamptz not null);
      create index board_comment_post on board_comment (post_id, comment_id) where not hidden;
      create table board_flag (
        flag_id text primary key, post_id text not null, comment_id text null, agent_id integer not null,
        stamp_task_id text not null, flagged_at timestamptz not null);
      create index board_flag_of on board_flag (post_id, comment_id);
    `);
  }
}
