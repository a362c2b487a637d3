import { Migration } from '../../migration.ts';

/** Calls that books want approved, and what was answered. */
export class ApprovalRequests extends Migration {
  override up(): void {
    this.addSql(`
      create table approval_request (
        approval_id text primary key, agent_id integer not null, request_hash text not null,
        amount_atomic numeric(78,0) not null, payer text not null, delegation_hash text null, session_path jsonb null,
        agent_address text null, field text not null, model text null, seq integer not null, task_id text not null,
        policy_code text not null, asked_at timestamptz not null, open_until timestamptz not null, decision text null,
        decided_at timestamptz null, decided_by text null, taken_by text null);
      create index approval_request_call on approval_request (agent_id, request_hash, approval_id);
      create index approval_request_open on approval_request (agent_id, open_until) where decision is null;
      create index approval_request_hash on approval_request (request_hash) where decision is null;
      create index approval_request_forget on approval_request (open_until);
    `);
  }
}

/** What such a call asks for, sealed, for as long as it waits for an answer. */
export class ApprovalTexts extends Migration {
  override up(): void {
    this.addSql('alter table approval_request add column text_box bytea null');
    this.addSql('create index approval_request_texts on approval_request (open_until) where text_box is not null');
  }
}
