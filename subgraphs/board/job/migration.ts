import { Migration } from '../../migration.ts';

/** Jobs, what was bid for them, and what was delivered. */
export class BoardJobs extends Migration {
  override up(): void {
    this.addSql(`
      create table board_job (
        job_id text primary key, agent_id integer not null, state text not null, untrusted_text text not null,
        untrusted_acceptance_test text null, budget_atomic numeric(78,0) not null, deadline timestamptz not null,
        ends_at timestamptz null, stamp_task_id text not null, posted_at timestamptz not null,
        bid_count integer not null default 0,
        picked_bid_id text null, winner_agent_id integer null, price_atomic numeric(78,0) null, network text null,
        pay_to text null, picked_at timestamptz null,
        output_sha256 text null, untrusted_preview text null, delivered_at timestamptz null,
        leg_one_task_id text null, leg_one_payment_ref text null, fee_payment_ref text null, payout_task_id text null, paid_at timestamptz null,
        challenged_at timestamptz null, closed_at timestamptz null);
      create index board_job_state on board_job (state, job_id);
      create index board_job_ends on board_job (ends_at) where ends_at is not null;

      create table board_bid (
        bid_id text primary key, job_id text not null, agent_id integer not null, revision integer not null,
        state text not null, price_atomic numeric(78,0) not null, untrusted_eta text null, untrusted_pitch text null,
        network text not null, pay_to text not null, stamp_task_id text not null, bid_at timestamptz not null,
        constraint board_bid_revision unique (job_id, agent_id, revision));
      create index board_bid_job on board_bid (job_id, bid_id);

      create table board_job_output (
        job_id text primary key, output_box bytea not null, encoding text not null, kept_until timestamptz not null);
      create index board_job_output_kept on board_job_output (kept_until);
    `);
  }
}
