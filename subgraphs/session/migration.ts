import { Migration } from '../migration.ts';

const AGENTS = `
  create sequence agent_id_seq as integer;
  create table agent (
    agent_id integer primary key, wallet text not null, task_id text not null, request_hash text not null,
    validate_score integer null, registered_at timestamptz not null,
    constraint agent_wallet unique (wallet), constraint agent_task unique (task_id));

  create table possession (
    session_hash text primary key, session_box bytea not null, agent_id integer not null,
    issued_at timestamptz not null, ended_at timestamptz null);
  -- At most one live session per agent, whatever races: the index is the guard, issue.ts the order.
  create unique index possession_live on possession (agent_id) where ended_at is null;
  create index possession_agent on possession (agent_id);
`;

/** What serves once, by a name that is taken; forgotten once it would pass no more anyway. */
const USED_ONCE = `
  create table signature_use (request_hash text primary key, forget_at timestamptz not null);
  create index signature_use_forget on signature_use (forget_at);

  create table proof_use (
    agent_id integer not null, digest bytea not null, forget_at timestamptz not null, primary key (agent_id, digest));
  create index proof_use_forget on proof_use (forget_at);
`;

/** All tables of this subgraph. Never edited once it has run: what changes later is a migration of its own, after it. */
export class SessionBaseline extends Migration {
  /** What made the same, step by step. */
  static readonly replaces: readonly string[] = ['SessionTables', 'UsedOnceTables'];

  override up(): void {
    for (const tables of [AGENTS, USED_ONCE]) this.addSql(tables);
  }
}
