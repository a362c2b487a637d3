import { Migration } from '../migration.ts';

/*
 * All tables of this subgraph but those of features. Columns stand in the order in which they came to be: a database that was made
 * step by step and one that is made at once answer alike, also to whoever names none of them. Bodies of functions keep the very
 * spaces that they were first made with: a database that stands is compared with them.
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
    terms_hash text null,
    -- What it alerts of, and what it has told.
    alert_settings jsonb not null default '{}', alert_state jsonb not null default '{}',
    -- Policies in shadow mode, apart from those that refuse.
    shadow jsonb not null default '{}',
    -- What its webhook wants stands here too, which is read under its lock anyway: a book without a webhook costs no look.
    webhook_kinds jsonb null, webhook_messages integer not null default 0);
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
  -- Filtered pages run down an index in the order of seq. By one of either alone a page of few rows of an intent that rest on one
  -- evidence would run down all of the intent's.
  create index book_row_intent_seq on book_row (agent_id, intent_id, seq);
  create index book_row_evidence_seq on book_row (agent_id, evidence, seq);
  create index book_row_intent_evidence_seq on book_row (agent_id, intent_id, evidence, seq)
    where intent_id is not null;
  -- Children are found by their parent; rows that follow from none take no room.
  create index book_row_parent on book_row (agent_id, parent_ref, seq) where parent_ref is not null;
  -- Rows whose amount was given up: a journal reverses each.
  create index book_row_given_up on book_row (agent_id, seq) where arrival_status = 'unverified';

  create table book_event (
    agent_id integer not null, position integer not null, kind text not null, seq integer null,
    task_id text null, body jsonb not null, at timestamptz not null, prev_hash text not null, hash text not null,
    primary key (agent_id, position));
  create index book_event_row on book_event (agent_id, seq);
  -- What a book's owner allows is told by events, which are of no row; so are its alerts.
  create index book_event_policy on book_event (agent_id, position) where kind in ('policy_changed', 'budget_changed');
  create index book_event_alert on book_event (agent_id, kind, position) where kind in ('alert', 'alerts_changed');

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

/** What rows came to by hour, day, model and so on: see ledger/sums.ts. Each page of a book adds up those whose money nobody has seen yet. */
const SUMS = `
  create table book_sum (
    agent_id integer not null, dimension text not null, period timestamptz not null, bucket text not null,
    rail text not null, count integer not null, amount numeric(78,0) not null, first_seq integer not null,
    last_seq integer not null,
    primary key (agent_id, dimension, period, bucket, rail));
  create index book_sum_unseen on book_sum (agent_id, period)
    where dimension = 'evidence' and bucket = 'RECORDED_BY_SETTLE';
`;

/**
 * Corrections of inflows, what each says by its hash, and those in which branches of a fork come together. `tips`: how many rows of
 * a chain nothing has taken the place of; it holds for as long as `tips_of` is the count of all corrections.
 */
const CORRECTIONS = `
  create table book_correction (
    agent_id integer not null, seq integer not null, original_seq integer not null, corrects_seq integer not null,
    said_hash text null,
    primary key (agent_id, seq));
  create index book_correction_original on book_correction (agent_id, original_seq, seq);
  create index book_correction_corrects on book_correction (agent_id, corrects_seq);
  create unique index book_correction_said on book_correction (agent_id, corrects_seq, said_hash);

  create table book_merge (
    agent_id integer not null, merged_seq integer not null, seq integer not null,
    primary key (agent_id, merged_seq, seq));

  create table book_supersession (
    agent_id integer not null, original_seq integer not null, chains integer not null,
    corrections integer not null, forks integer not null, last_seq integer not null,
    tips integer null, last_merge_seq integer null, tips_of integer null,
    primary key (agent_id, original_seq));
`;

/**
 * What owners publish of their books, and what they open to others. `signed` and `csv` are null until the first build has come to
 * its end; of how many rows an export is stands beside the text, for whoever pulls its CSV alone. A token is nowhere: what is
 * kept is its SHA-256.
 */
const SHARED = `
  create table pull_export (
    agent_id integer primary key, slug text not null, published_at timestamptz not null,
    exported_at timestamptz null, row_count integer null, complete boolean null, empty_reason text null,
    signed text null, csv text null, truncated boolean null, matching_count integer null,
    constraint pull_export_slug unique (slug));

  create table slice_assignment (
    assignment_id text primary key, agent_id integer not null, grant_type text not null, grantee text null,
    slice jsonb not null, expires_at timestamptz null, token_hash text not null, created_at timestamptz not null,
    created_session text not null, revoked_at timestamptz null, revoked_by text null, revoked_session text null,
    created_by text not null default 'session',
    constraint slice_assignment_token unique (token_hash));
  create index slice_assignment_book on slice_assignment (agent_id);
`;

/**
 * What was claimed of rows, and decided. A verdict is kept as it was signed, byte for byte; a later one may take its place. A
 * refund names the charge that is owed back, and of each charge there is one.
 */
const DISPUTES = `
  create table dispute (
    dispute_id text primary key, agent_id integer not null, seq integer not null, task_id text not null,
    claim_type text not null, evidence_hash text not null, outcome text null, reason text not null,
    position integer not null, filed_at timestamptz not null, judged_at timestamptz not null, verdict text not null,
    revision integer not null default 1, supersedes text null, standing_task_id text null,
    decides_after timestamptz null, refund_of text null,
    constraint dispute_claim unique (agent_id, task_id, claim_type, evidence_hash),
    constraint dispute_refund_of unique (refund_of));
  create index dispute_book on dispute (agent_id, dispute_id);
  create index dispute_filed on dispute (agent_id, filed_at);
  create index dispute_refund on dispute (agent_id, coalesce(refund_of, task_id)) where outcome = 'refund';

  create function refuse_unnamed_refund() returns trigger language plpgsql as $$
        begin
          raise exception 'a refund names the charge that is owed back';
        end $$;
  create trigger dispute_refund_named before insert or update of outcome on dispute
    for each row when (new.outcome = 'refund' and new.refund_of is null) execute function refuse_unnamed_refund();
`;

/** Escrows, which payment backs which, and which receipt fulfils which. Every phase is also an event or a row of a book, which the ledger writes. */
const ESCROWS = `
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
    -- which output it requires, and when the webhook of its counterparty was told of it
    required_output_hash text null, offer_told_at timestamptz null,
    constraint a2a_escrow_job unique (principal_agent_id, job_id));
  create index a2a_escrow_counterparty_job on a2a_escrow (counterparty_agent_id, job_id);
  create index a2a_escrow_principal on a2a_escrow (principal_agent_id, escrow_id);
  create index a2a_escrow_counterparty on a2a_escrow (counterparty_agent_id, escrow_id);
  create index a2a_escrow_opened on a2a_escrow (principal_agent_id, opened_at);
  create index a2a_escrow_live on a2a_escrow (principal_agent_id, counterparty_agent_id)
    where state in ('open', 'funded', 'submitted', 'challenged');
  create index a2a_escrow_expires on a2a_escrow (expires_at) where state in ('open', 'funded');
  create index a2a_escrow_told on a2a_escrow (counterparty_agent_id, offer_told_at) where offer_told_at is not null;

  create table a2a_escrow_backing (task_id text primary key, escrow_id text not null);
  create table a2a_escrow_fulfillment (task_id text primary key, escrow_id text not null);
`;

/** Where books tell of their events. URL and secrets are sealed. */
const WEBHOOKS = `
  create table webhook (
    agent_id integer primary key, box bytea null, events jsonb not null, enabled boolean not null,
    told_position integer not null default 0, told_messages integer not null default 0,
    deliveries integer not null default 0, failures integer not null default 0, last_status integer null,
    last_error text null, failures_in_row integer not null default 0, rests_until timestamptz null,
    answered_at timestamptz null, room jsonb not null default '{}', created_at timestamptz not null,
    changed_at timestamptz not null, changed_by jsonb null);
  create table webhook_dead_letter (
    agent_id integer not null, position integer not null, kind text not null, attempts integer not null,
    given_up_at timestamptz not null, last_status integer null, last_error text null,
    primary key (agent_id, position, kind));
  create index webhook_dead_letter_age on webhook_dead_letter (given_up_at);
`;

/** Router books, what was broadcast to each, what of it was verified, and how often what nobody pays for was used. */
const ROUTERS = `
  create table router_book (
    book_id varchar(40) primary key, agent_id integer null, label varchar(120) null, key_hash varchar(64) not null,
    router_key_box bytea null, router_key_set_at timestamptz null, opened_at timestamptz not null,
    constraint router_book_key unique (key_hash));

  create table router_generation (
    book_id varchar(40) not null, generation_id varchar(128) not null, task_id varchar(64) not null,
    model varchar(200) not null, amount numeric(78,0) not null, rail varchar(32) not null,
    payment_ref varchar(256) null, verified_with varchar(255) null, reported_at timestamptz not null,
    primary key (book_id, generation_id));

  create table router_sum (
    book_id varchar(40) not null, rail varchar(32) not null, count integer not null, amount numeric(78,0) not null,
    primary key (book_id, rail));

  create table router_use (
    holder varchar(80) not null, period timestamptz not null, uses integer not null,
    primary key (holder, period));
  create index router_use_period on router_use (period);
`;

/**
 * Which transfers were recorded as payments to somebody else. Where one yields, the row that says so is marked apart from the
 * event that says it (`yield_row_at`, `corrected_at`).
 */
const INGESTS = `
  create table foreign_ingest (
    task_id text primary key, agent_id integer not null, slot text not null, transfer jsonb not null,
    seen_in jsonb not null, payer_proven boolean not null, standing text not null,
    recorded_at timestamptz not null, looked_at timestamptz not null, yielded_to text null,
    corrected_at timestamptz null, yield_row_at timestamptz null);
  create index foreign_ingest_slot on foreign_ingest (slot);
  create index foreign_ingest_pending on foreign_ingest (looked_at) where standing = 'pending';
  create index foreign_ingest_yield_owed on foreign_ingest (recorded_at)
    where yielded_to is not null and yield_row_at is null;
`;

/** Calls that books want approved, and what was answered. What such a call asks for is sealed, and kept for as long as it waits. */
const APPROVALS = `
  create table approval_request (
    approval_id text primary key, agent_id integer not null, request_hash text not null,
    amount_atomic numeric(78,0) not null, payer text not null, delegation_hash text null, session_path jsonb null,
    agent_address text null, field text not null, model text null, seq integer not null, task_id text not null,
    policy_code text not null, asked_at timestamptz not null, open_until timestamptz not null, decision text null,
    decided_at timestamptz null, decided_by text null, taken_by text null, text_box bytea null);
  create index approval_request_call on approval_request (agent_id, request_hash, approval_id);
  create index approval_request_open on approval_request (agent_id, open_until) where decision is null;
  create index approval_request_hash on approval_request (request_hash) where decision is null;
  create index approval_request_forget on approval_request (open_until);
  create index approval_request_texts on approval_request (open_until) where text_box is not null;
`;

/** Never edited once it has run: what changes later is a migration of its own, after it. */
export class BookCoreBaseline extends Migration {
  /** What made the same, step by step. */
  static readonly replaces: readonly string[] = [
    'BookBaseline',
    'BookSums',
    'BookTermsEvents',
    'PullExportTable',
    'BookSequenceTables',
    'BookLineage',
    'BookAlerts',
    'ShadowPolicies',
    'BookIntentEvidence',
    'SliceAssignments',
    'DisputeTable',
    'SliceAssignmentMakers',
    'Escrows',
    'BookWebhooks',
    'RouterBooks',
    'ForeignIngests',
    'ApprovalRequests',
    'CorrectionHashes',
    'CorrectionMerges',
    'EscrowFulfillments',
    'YieldedRows',
    'PullExportExtent',
    'CorrectionMergesBeside',
    'YieldedRowsMarked',
    'BookUnseenSums',
    'BookGivenUpRows',
    'DisputeRevisions',
    'ApprovalTexts',
    'EscrowOffers',
    'RefundsNameTheirCharge',
  ];

  override up(): void {
    const ledger = [LEDGER, COUNTS, SUMS, CORRECTIONS];
    const others = [SHARED, DISPUTES, ESCROWS, WEBHOOKS, ROUTERS, INGESTS, APPROVALS];
    for (const tables of [...ledger, ...others]) this.addSql(tables);
  }
}
