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

/**
 * Delegated sessions, what was spent under them, and what each has burnt, payment by payment. What lies below a session is found by
 * its path, and so many living children as one may have are counted without those that are over being read.
 */
const SESSIONS = `
  create table delegation (
    delegation_hash text primary key, payer text not null, agent_pubkey text not null, agent_address text not null,
    cap_atomic numeric(78,0) not null, valid_after bigint not null, session_expiry bigint not null,
    parent_hash text null, path jsonb not null, models jsonb not null, doors jsonb not null, salt text not null,
    signature text not null, spent_atomic numeric(78,0) not null, created_at timestamptz not null,
    bound_at timestamptz null, burn_position bigint not null default 0);
  create index delegation_children on delegation (parent_hash, session_expiry);
  create index delegation_path on delegation using gin (path);
  create index delegation_unbound on delegation (created_at) where bound_at is null;
  -- Sessions that a wallet has granted itself are listed by when they were bound.
  create index delegation_roots on delegation (payer, bound_at, delegation_hash)
    where parent_hash is null and bound_at is not null;

  create table delegated_call (
    task_id text primary key, delegation_hash text not null, agent_id integer null, amount_atomic numeric(78,0) not null);
  create index delegated_call_session on delegated_call (delegation_hash);

  create table session_burn (
    delegation_hash text not null, position bigint not null, task_id text not null, paid_under text not null,
    amount_atomic numeric(78,0) not null, spent_atomic numeric(78,0) not null,
    primary key (delegation_hash, position));

  -- Counts of what sessions do that nobody pays for.
  create table session_use (
    holder varchar(80) not null, period timestamptz not null, uses integer not null, primary key (holder, period));
  create index session_use_period on session_use (period);
`;

/** The acts of sessions' keys. */
const ACTS = `
  create table act_use (
    delegation_hash text not null, nonce text not null, forget_at timestamptz not null, primary key (delegation_hash, nonce));
  create index act_use_forget on act_use (forget_at);

  create table hand_off (
    parent_task_id text not null, target_agent integer not null, task_id text not null, delegation_hash text not null,
    primary key (parent_task_id, target_agent), constraint hand_off_child unique (task_id));

  create table redemption (
    task_id text primary key, delegation_hash text not null, redeemed_at timestamptz not null);
`;

/** All tables of this subgraph. Never edited once it has run: what changes later is a migration of its own, after it. */
export class SessionCoreBaseline extends Migration {
  /** What made the same, step by step. */
  static readonly replaces: readonly string[] = [
    'SessionBaseline',
    'DelegatedSessions',
    'SessionSubtrees',
    'LivingChildren',
    'SessionBurns',
    'SessionUses',
    'RootSessions',
    'SessionSums',
  ];

  override up(): void {
    for (const tables of [AGENTS, USED_ONCE, SESSIONS, ACTS]) this.addSql(tables);
  }
}
