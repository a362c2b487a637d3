import { Migration } from '@mikro-orm/migrations';

/** What strangers may do to a book without paying is counted, and its owner's changes of mind have numbers. */
export class BookCounts extends Migration {
  override up(): void {
    this.addSql('alter table book add column policy_version integer not null default 0');
    this.addSql(`create table book_counted (
      agent_id integer not null, seq integer not null, kind text not null, task_id text not null, body jsonb not null,
      count integer not null, first_at timestamptz not null, last_at timestamptz not null,
      primary key (agent_id, seq, kind))`);
    this.addSql(`create table book_replay_hour (
      agent_id integer not null, seq integer not null, hour timestamptz not null, replays integer not null,
      primary key (agent_id, seq))`);
    this.addSql(`create table book_blocked_hour (
      agent_id integer not null, policy_version integer not null, policy_code text not null, intent_id text not null,
      hour timestamptz not null, rows integer not null, seq integer not null, task_id text not null,
      refusal_id text not null, primary key (agent_id, policy_version, policy_code, intent_id, hour))`);
  }
}
