import { Migration } from '../migration.ts';
import { firstSumsOf } from './ledger/sums.ts';

/*
 * Columns stand in the order in which they came to be: a database that was made step by step and one that is made at once
 * answer alike, also to whoever names none of them.
 */

const LEDGER = `
  create table book (
    agent_id integer primary key, budget_atomic numeric(78,0) null, spent_atomic numeric(78,0) not null default '0',
    reserved_atomic numeric(78,0) not null default '0', seq integer not null default 0,
    position integer not null default 0, row_hash text not null default '', event_hash text not null default '',
    by_rail jsonb not null default '{}', opened_at timestamptz not null,
    -- What a book's owner allows, and what was collected in the present hour and day (UTC): all that a reservation is judged by.
    policy jsonb not null default '{}', hour_start timestamptz null, hour_atomic numeric(78,0) not null default '0',
    day_start timestamptz null, day_atomic numeric(78,0) not null default '0',
    -- The owner's changes of mind have numbers.
    policy_version integer not null default 0,
    -- What the audit finds, so that whoever locks the head knows of it.
    damage jsonb null,
    -- Null on books that were opened before there was one, until their owner sets something.
    terms_hash text null);
  create index book_damaged on book (agent_id) where damage is not null;

  create table book_row (
    agent_id integer not null, seq integer not null, task_id text not null, evidence text not null,
    collected boolean not null, payment_ref text null, transfer_index integer null, rail text null,
    amount numeric(78,0) null, collected_at timestamptz not null, model text null, hub text null, intent_id text null,
    attempt_index integer null, payer_wallet text null, settled_by text null, parent_ref text null,
    recorded_by text null, fulfillment jsonb null, facts jsonb not null default '{}', arrival_status text null,
    omission_rule text null, ingress_receipt jsonb null, replay_count integer not null default 0,
    prev_row_hash text not null, row_hash text not null,
    primary key (agent_id, seq),
    constraint book_row_task unique (agent_id, task_id),
    constraint book_row_payment unique (agent_id, payment_ref, transfer_index));
  create index book_row_task_id on book_row (task_id);
  create index book_row_intent on book_row (agent_id, intent_id);

  create table book_event (
    agent_id integer not null, position integer not null, kind text not null, seq integer not null,
    task_id text not null, body jsonb not null, at timestamptz not null, prev_hash text not null, hash text not null,
    primary key (agent_id, position));
  create index book_event_row on book_event (agent_id, seq);

  create table book_intent (
    agent_id integer not null, intent_id text not null, collected_count integer not null default 0,
    blocked_count integer not null default 0,
    primary key (agent_id, intent_id));
`;

/** What strangers may do to a book without paying is counted. */
const COUNTS = `
  create table book_counted (
    agent_id integer not null, seq integer not null, kind text not null, task_id text not null, body jsonb not null,
    count integer not null, first_at timestamptz not null, last_at timestamptz not null,
    primary key (agent_id, seq, kind));

  create table book_replay_hour (
    agent_id integer not null, seq integer not null, hour timestamptz not null, replays integer not null,
    primary key (agent_id, seq));

  create table book_blocked_hour (
    agent_id integer not null, policy_version integer not null, policy_code text not null, intent_id text not null,
    hour timestamptz not null, rows integer not null, seq integer not null, task_id text not null,
    refusal_id text not null,
    primary key (agent_id, policy_version, policy_code, intent_id, hour));
`;

/** All tables of this subgraph. Never edited once it has run: what changes later is a migration of its own, after it. */
export class BookBaseline extends Migration {
  /** What made the same, step by step. */
  static readonly replaces: readonly string[] = ['BookTables', 'BookPolicyColumns', 'BookCounts', 'BookAudit'];

  override up(): void {
    for (const tables of [LEDGER, COUNTS]) this.addSql(tables);
  }
}

const SUMS = `
  create table book_sum (
    agent_id integer not null, dimension text not null, period timestamptz not null, bucket text not null,
    rail text not null, count integer not null, amount numeric(78,0) not null, first_seq integer not null,
    last_seq integer not null,
    primary key (agent_id, dimension, period, bucket, rail));

  -- Filtered pages run down an index in the order of seq.
  drop index book_row_intent;
  create index book_row_intent_seq on book_row (agent_id, intent_id, seq);
  create index book_row_evidence_seq on book_row (agent_id, evidence, seq);
`;

/** Sums by hour, day, model and so on; the rows that stand are counted once, by what counts those that follow. */
export class BookSums extends Migration {
  override up(): void {
    this.addSql(SUMS);
    this.addSql(firstSumsOf('book_row'));
  }
}

const TERMS_EVENTS = `
  alter table book_event alter column seq drop not null, alter column task_id drop not null;
  create index book_event_policy on book_event (agent_id, position) where kind in ('policy_changed', 'budget_changed');
`;

/** What a book's owner allows is told by events, which are of no row. */
export class BookTermsEvents extends Migration {
  override up(): void {
    this.addSql(TERMS_EVENTS);
  }
}
