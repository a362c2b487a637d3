import { Migration } from '../../migration.ts';

const SESSIONS = `
  create table delegation (
    delegation_hash text primary key, payer text not null, agent_pubkey text not null, agent_address text not null,
    cap_atomic numeric(78,0) not null, valid_after bigint not null, session_expiry bigint not null,
    parent_hash text null, path jsonb not null, models jsonb not null, doors jsonb not null, salt text not null,
    signature text not null, spent_atomic numeric(78,0) not null, created_at timestamptz not null,
    bound_at timestamptz null);
  create index delegation_parent on delegation (parent_hash);
  create index delegation_unbound on delegation (created_at) where bound_at is null;

  create table delegated_call (
    task_id text primary key, delegation_hash text not null, agent_id integer null, amount_atomic numeric(78,0) not null);
  create index delegated_call_session on delegated_call (delegation_hash);
`;

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

/** Delegated sessions, what was spent under them, and the acts of their keys. */
export class DelegatedSessions extends Migration {
  override up(): void {
    for (const tables of [SESSIONS, ACTS]) this.addSql(tables);
  }
}
