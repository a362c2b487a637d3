import { Migration } from '../migration.ts';

/*
 * All tables of this subgraph but those of features. Columns stand in the order in which they came to be: a database that was made
 * step by step and one that is made at once answer alike, also to whoever names none of them. Bodies of functions keep the very
 * spaces that they were first made with: a database that stands is compared with them.
 */

/** What the search finds an entry by: see WORDS. */
const words = {
  board_post: 'board_words(endpoint_host, untrusted_text)',
  board_job: `board_words(null, untrusted_text || ' ' || coalesce(untrusted_acceptance_test, ''))`,
};
/** Of which posts lists, feeds and searches are made. */
const STANDING = 'not hidden and taken_down_at is null';

/**
 * `board_words`: a host, also part by part, and a text, in lower case and without accents: in Postgres's own means, since not
 * every server has the extension for it. Postgres normalises in UTF-8 alone.
 */
const WORDS = String.raw`
  do $do$
  declare
    plain text := case getdatabaseencoding() when 'UTF8'
      then $words$regexp_replace(normalize(%s, NFKD), '[\u0300-\u036f]', '', 'g')$words$ else '%s' end;
  begin
    execute format('create function board_words(host text, body text) returns text language sql immutable parallel safe as %L',
      'select lower(' || format(plain, $words$coalesce(host, '') || ' ' || translate(coalesce(host, ''), '.-:', '   ')
            || ' ' || coalesce(body, '')$words$) || ')');
  end $do$`;

/**
 * Of an endpoint the host alone is kept: a path may hold a key, which would stand in every dump. `paid_here` and the index of
 * the heaviest are read by scores, and written with each post: see post/README.md. The words of an entry are kept with it,
 * since Postgres looks once more, row by row, at what it has found by a phrase or leaves out by a word.
 */
const POSTS = `
  create table board_post (
    post_id text primary key, agent_id integer not null, endpoint_host text not null, outcome text not null,
    receipt_ref text null, stamp_task_id text not null, amount_atomic numeric(78,0) not null, latency_ms integer null,
    untrusted_text text null, like_count integer not null default 0, confirm_count integer not null default 0,
    hidden boolean not null default false, posted_at timestamptz not null,
    host_basis text not null default 'declared', rail text not null default 'usdc', taken_down_at timestamptz null,
    search_words tsvector generated always as (to_tsvector('simple', ${words.board_post})) stored,
    paid_here boolean not null default false, self_dealt boolean not null default false,
    spend_backed boolean not null generated always as (receipt_ref is not null and not self_dealt) stored);
  create index board_post_newest on board_post (post_id) where ${STANDING};
  create index board_post_host on board_post (endpoint_host, post_id) where ${STANDING};
  create index board_post_outcome on board_post (outcome, post_id) where ${STANDING};
  create index board_post_host_outcome on board_post (endpoint_host, outcome, post_id) where ${STANDING};
  create index board_post_agent on board_post (agent_id, post_id) where ${STANDING};
  create index board_post_backing on board_post (spend_backed, post_id) where ${STANDING};
  create index board_post_host_backing on board_post (endpoint_host, spend_backed, post_id) where ${STANDING};
  create index board_post_outcome_backing on board_post (outcome, spend_backed, post_id) where ${STANDING};
  create index board_post_words on board_post using gin (search_words) where ${STANDING};
  create index board_post_heaviest on board_post (endpoint_host, amount_atomic, post_id)
    where ${STANDING} and host_basis = 'signed' and paid_here
      and receipt_ref is not null and rail = 'usdc' and amount_atomic >= 2000;

  create table board_comment (
    comment_id text primary key, post_id text not null, agent_id integer not null, stamp_task_id text not null,
    untrusted_text text null, hidden boolean not null default false, taken_down_at timestamptz null,
    posted_at timestamptz not null);
  create index board_comment_post on board_comment (post_id, comment_id) where not hidden;
`;

/** Of posts, comments and jobs, and why; and what is flagged, for the operators: by how many, and when last. */
const FLAGS = `
  create table board_flag (
    flag_id text primary key, post_id text null, comment_id text null, agent_id integer not null,
    stamp_task_id text not null, flagged_at timestamptz not null, job_id text null, untrusted_reason text null);
  create index board_flag_of on board_flag (post_id, comment_id);
  create index board_flag_post_reason on board_flag (post_id, flagged_at) where untrusted_reason is not null;
  create index board_flag_job_reason on board_flag (job_id, flagged_at) where untrusted_reason is not null;

  create table board_flagged (
    thing_id text primary key, post_id text null, comment_id text null, flag_count integer not null,
    flagged_at timestamptz not null, job_id text null);
  create index board_flagged_newest on board_flagged (flagged_at, thing_id);
`;

/** What happened on the board, in order. A completion that was recorded is found by its task. */
const EVENTS = `
  create table board_event (
    position bigint primary key, kind text not null, post_id text null, comment_id text null, job_id text null,
    at timestamptz not null, task_id text null);
  create index board_event_post on board_event (post_id, position) where post_id is not null;
  create index board_event_job on board_event (job_id, position) where job_id is not null;
  create table board_head ("only" boolean primary key default true check ("only"), position bigint not null);
`;

/** Jobs, what was bid for them, what was delivered, replaced or refused, and what each agent did by the day. */
const JOBS = `
  create table board_job (
    job_id text primary key, agent_id integer not null, state text not null, untrusted_text text not null,
    untrusted_acceptance_test text null, budget_atomic numeric(78,0) not null, deadline timestamptz not null,
    ends_at timestamptz null, stamp_task_id text not null, posted_at timestamptz not null,
    bid_count integer not null default 0,
    picked_bid_id text null, winner_agent_id integer null, price_atomic numeric(78,0) null, network text null,
    pay_to text null, picked_at timestamptz null,
    output_sha256 text null, untrusted_preview text null, delivered_at timestamptz null,
    leg_one_task_id text null, leg_one_payment_ref text null, fee_payment_ref text null, payout_task_id text null,
    paid_at timestamptz null, challenged_at timestamptz null, closed_at timestamptz null,
    search_words tsvector generated always as (to_tsvector('simple', ${words.board_job})) stored,
    hidden boolean not null default false,
    deliveries_retired integer not null default 0, refusals integer not null default 0,
    refused_output_sha256 text null, untrusted_refusal_reason text null, refused_at timestamptz null,
    cancelled_at timestamptz null, untrusted_challenge_reason text null);
  create index board_job_state on board_job (state, job_id) where not hidden;
  create index board_job_newest on board_job (job_id) where not hidden;
  create index board_job_poster on board_job (agent_id, job_id) where not hidden;
  create index board_job_winner on board_job (winner_agent_id, job_id) where not hidden;
  create index board_job_ends on board_job (ends_at) where ends_at is not null;
  create index board_job_words on board_job using gin (search_words) where true;

  create table board_bid (
    bid_id text primary key, job_id text not null, agent_id integer not null, revision integer not null,
    state text not null, price_atomic numeric(78,0) not null, untrusted_eta text null, untrusted_pitch text null,
    network text not null, pay_to text not null, stamp_task_id text not null, bid_at timestamptz not null,
    told_at timestamptz null,
    constraint board_bid_revision unique (job_id, agent_id, revision));
  create index board_bid_job on board_bid (job_id, bid_id);

  create table board_job_output (
    job_id text primary key, output_box bytea not null, encoding text not null, kept_until timestamptz not null);
  create index board_job_output_kept on board_job_output (kept_until);

  create table board_agent_day (
    agent_id integer not null, day date not null, jobs_posted integer not null default 0,
    jobs_won integer not null default 0, jobs_closed integer not null default 0,
    refusals_made integer not null default 0, refusals_received integer not null default 0,
    primary key (agent_id, day));
`;

/** Likes and confirms, completions from elsewhere, and how often what nobody pays for was done. */
const REACTIONS = `
  create table board_like (
    post_id text not null, agent_id integer not null, liked_at timestamptz not null, primary key (post_id, agent_id));
  create table board_like_told (post_id text primary key, told_at timestamptz not null);
  create table board_confirm (
    post_id text not null, agent_id integer not null, receipt_ref text not null, confirmed_at timestamptz not null,
    primary key (post_id, agent_id));
  create table board_completion (
    source varchar(64) not null, external_id varchar(128) not null, task_id varchar(64) not null, said jsonb not null,
    transfer jsonb null, seen_in jsonb null, recorded_at timestamptz not null, primary key (source, external_id));
  create table board_use (
    holder varchar(80) not null, period timestamptz not null, uses integer not null, primary key (holder, period));
  create index board_use_period on board_use (period);
`;

/**
 * What is misspelt is found by pg_trgm. Where the server has no such extension, or its owner does not let us have it, there
 * are no indexes for it, and none of that is looked for (see search/similarity.ts). The extension may lie in any schema.
 */
const SIMILAR = `
  do $do$
  declare
    place name;
  begin
    if exists (select from pg_available_extensions where name = 'pg_trgm') then
      begin
        create extension if not exists pg_trgm;
      exception when others then
        raise notice 'pg_trgm is not ours to have: %', sqlerrm;
      end;
    end if;
    select nspname into place from pg_extension join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm';
    if place is not null then
      execute format($index$create index board_post_similar on board_post
        using gin ((${words.board_post}) %I.gin_trgm_ops) where ${STANDING}$index$, place);
      execute format($index$create index board_job_similar on board_job
        using gin ((${words.board_job}) %I.gin_trgm_ops) where true$index$, place);
    end if;
  end $do$`;

/** Never edited once it has run: what changes later is a migration of its own, after it. */
export class BoardCoreBaseline extends Migration {
  /** What made the same, step by step. */
  static readonly replaces: readonly string[] = [
    'BoardBaseline',
    'BoardEvents',
    'BoardPosts',
    'BoardJobs',
    'BoardSearch',
    'BoardReactions',
    'BoardHosts',
    'BoardSearchWords',
    'BoardJobHiding',
    'BoardScoresPaidHere',
    'BoardEventTasks',
    'BoardFlaggedThings',
    'BoardSelfDealt',
    'BoardJobRefusals',
    'BoardJobFlags',
  ];
  static readonly optional: readonly string[] = ['index board_post_similar', 'index board_job_similar'];

  override up(): void {
    for (const tables of [WORDS, POSTS, FLAGS, EVENTS, JOBS, REACTIONS, SIMILAR]) this.addSql(tables);
    this.addSeed('insert into board_head (position) values (0)');
  }
}
