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

/** What serves once, by a name that is taken; forgotten once it would pass no more anyway. */
export class UsedOnceTables extends Migration {
  override up(): void {
    this.addSql(`create table signature_use (
      request_hash text primary key,
      forget_at timestamptz not null
    )`);
    this.addSql(`create index signature_use_forget on signature_use (forget_at)`);
    this.addSql(`create table proof_use (
      agent_id integer not null,
      digest bytea not null,
      forget_at timestamptz not null,
      primary key (agent_id, digest)
    )`);
    this.addSql(`create index proof_use_forget on proof_use (forget_at)`);
  }
}
