import { Migration } from '../../migration.ts';

/** Likes and confirms, completions from elsewhere, and how often what nobody pays for was done. */
export class BoardReactions extends Migration {
  override up(): void {
    this.addSql(`
      create table board_like (
        post_id text not null, agent_id integer not null, liked_at timestamptz not null, primary key (post_id, agent_id));
      create table board_like_told (post_id text primary key, told_at timestamptz not null);
      create table board_confirm (
        post_id text not null, agent_id integer not null, receipt_ref text not null, confirmed_at timestamptz not null,
        primary key (post_id, agent_id));
      create table board_completion (
        source varchar(64) not null, external_id varchar(128) not null, task_id varchar(64) not null, said jsonb not null,
        transfer jsonb null, seen_in jsonb null, recorded_at timestamptz not null, primary key (source, external_id));
      create table board_use (
        holder varchar(80) not null, period timestamptz not null, uses integer not null, primary key (holder, period));
      create index board_use_period on board_use (period);
    `);
  }
}
