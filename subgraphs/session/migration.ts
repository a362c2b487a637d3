import { Migration } from '@mikro-orm/migrations';

export class SessionTables extends Migration {
  override up(): void {
    this.addSql(`create sequence agent_id_seq as integer`);
    this.addSql(`create table agent (
      agent_id integer primary key,
      wallet text not null,
      task_id text not null,
      request_hash text not null,
      validate_score integer null,
      registered_at timestamptz not null,
      constraint agent_wallet unique (wallet),
      constraint agent_task unique (task_id)
    )`);
    this.addSql(`create table possession (
      session_hash text primary key,
      session_box bytea not null,
      agent_id integer not null,
      issued_at timestamptz not null,
      ended_at timestamptz null
    )`);
    // At most one live session per agent, whatever races: the index is the guard, issue.ts the order.
    this.addSql(`create unique index possession_live on possession (agent_id) where ended_at is null`);
    this.addSql(`create index possession_agent on possession (agent_id)`);
  }
}
