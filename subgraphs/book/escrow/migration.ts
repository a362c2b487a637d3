import { Migration } from '../../migration.ts';

/** Escrows, and which payment backs which. Every phase is also an event or a row of a book, which the ledger writes. */
export class Escrows extends Migration {
  override up(): void {
    this.addSql(`
      create table ledger_escrow (
        escrow_id text primary key, agent_id integer not null, task_id text not null, seq integer not null,
        amount numeric(78,0) not null, required jsonb not null, state text not null, phases jsonb not null,
        opened_at timestamptz not null, expires_at timestamptz not null);
      create index ledger_escrow_book on ledger_escrow (agent_id, opened_at);
      create index ledger_escrow_task on ledger_escrow (agent_id, task_id, escrow_id);
      create index ledger_escrow_expires on ledger_escrow (expires_at) where state = 'open';
      create unique index ledger_escrow_live on ledger_escrow (agent_id, task_id) where state = 'open';

      create table a2a_escrow (
        escrow_id text primary key, principal_agent_id integer not null, counterparty_agent_id integer not null,
        job_id text not null, job_spec_hash text not null, amount numeric(78,0) not null, state text not null,
        phases jsonb not null, opened_at timestamptz not null, expires_at timestamptz not null,
        constraint a2a_escrow_job unique (principal_agent_id, job_id));
      create index a2a_escrow_counterparty_job on a2a_escrow (counterparty_agent_id, job_id);
      create index a2a_escrow_principal on a2a_escrow (principal_agent_id, escrow_id);
      create index a2a_escrow_counterparty on a2a_escrow (counterparty_agent_id, escrow_id);
      create index a2a_escrow_opened on a2a_escrow (principal_agent_id, opened_at);
      create index a2a_escrow_live on a2a_escrow (principal_agent_id, counterparty_agent_id)
        where state in ('open', 'funded', 'submitted', 'challenged');
      create index a2a_escrow_expires on a2a_escrow (expires_at) where state in ('open', 'funded');

      create table a2a_escrow_backing (task_id text primary key, escrow_id text not null);
    `);
  }
}
