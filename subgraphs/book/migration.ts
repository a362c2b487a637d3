import { Migration } from '@mikro-orm/migrations';

export class BookTables extends Migration {
  override up(): void {
    this.addSql(`create table book (
      agent_id integer primary key,
      budget_atomic numeric(78,0) null,
      spent_atomic numeric(78,0) not null default '0',
      reserved_atomic numeric(78,0) not null default '0',
      seq integer not null default 0,
      position integer not null default 0,
      row_hash text not null default '',
      event_hash text not null default '',
      by_rail jsonb not null default '{}',
      opened_at timestamptz not null
    )`);
    this.addSql(`create table book_row (
      agent_id integer not null,
      seq integer not null,
      task_id text not null,
      evidence text not null,
      collected boolean not null,
      payment_ref text null,
      transfer_index integer null,
      rail text null,
      amount numeric(78,0) null,
      collected_at timestamptz not null,
      model text null,
      hub text null,
      intent_id text null,
      attempt_index integer null,
      payer_wallet text null,
      settled_by text null,
      parent_ref text null,
      recorded_by text null,
      fulfillment jsonb null,
      facts jsonb not null default '{}',
      arrival_status text null,
      omission_rule text null,
      ingress_receipt jsonb null,
      replay_count integer not null default 0,
      prev_row_hash text not null,
      row_hash text not null,
      primary key (agent_id, seq),
      constraint book_row_task unique (agent_id, task_id),
      constraint book_row_payment unique (agent_id, payment_ref, transfer_index)
    )`);
    this.addSql(`create index book_row_task_id on book_row (task_id)`);
    this.addSql(`create index book_row_intent on book_row (agent_id, intent_id)`);
    this.addSql(`create table book_event (
      agent_id integer not null,
      position integer not null,
      kind text not null,
      seq integer not null,
      task_id text not null,
      body jsonb not null,
      at timestamptz not null,
      prev_hash text not null,
      hash text not null,
      primary key (agent_id, position)
    )`);
    this.addSql(`create index book_event_row on book_event (agent_id, seq)`);
    this.addSql(`create table book_intent (
      agent_id integer not null,
      intent_id text not null,
      collected_count integer not null default 0,
      blocked_count integer not null default 0,
      primary key (agent_id, intent_id)
    )`);
  }
}
