import { KEY_OVERLAP_SECONDS } from '../../schema/key-times.ts';
import { Migration } from '../migration.ts';

/*
 * All tables of this subgraph but those of features. Columns stand in the order in which they came to be: a database that was made
 * step by step and one that is made at once answer alike, also to whoever names none of them. Bodies of functions keep the very
 * spaces that they were first made with: a database that stands is compared with them.
 */

/** The hash of nothing: SHA-256 of the empty string (RFC 6962, 2.1). */
const EMPTY_ROOT = '\\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * Nodes and signed heads are only ever added. A break may be declared where the head outside the database is lost: it names the
 * books that went back, and may end credentials.
 */
const LOG = `
  create table log_node (
    level smallint not null, index bigint not null, hash bytea not null, primary key (level, index));

  -- One row, which every batch locks; whoever finds that the log does not extend what was signed says so in it (halted).
  create table log_head (
    log_id smallint primary key, tree_size bigint not null, root_hash bytea not null, frontier bytea not null,
    last_at_ms bigint not null, halted jsonb null);

  create table tree_head (
    tree_size bigint primary key, log_id smallint not null, root_hash text not null, tree_head_hash text not null,
    kid text not null, jws text not null, at timestamptz(3) not null);

  create table log_break (
    break_id serial primary key, saved jsonb null, found jsonb not null, reason text not null,
    declared_at timestamptz(3) not null, kid text not null, jws text not null, damage jsonb null, anchored jsonb null,
    books jsonb null, credentials_ended boolean not null default false);

  -- The journal of anchoring. What several processes may do at once, one of them does: a key has one transaction under way.
  create table log_anchor (
    anchor_id text primary key, chain_epoch integer not null, sender text not null, purpose text not null,
    tree_size bigint not null, root_hash text not null, nonce bigint not null, attempts jsonb not null,
    fee_max_wei numeric(78,0) not null, fee_wei numeric(78,0) null, tx_hash text null, block_number bigint null,
    state text not null, at timestamptz not null);
  create unique index log_anchor_open on log_anchor (chain_epoch, sender) where state = 'sent';
  create index log_anchor_newest on log_anchor (chain_epoch, sender, at);

  -- Who vouches for the log's heads, and how far each has come.
  create table log_cosignature (
    tree_size bigint not null, witness text not null, root_hash text not null, line text not null,
    at timestamptz not null, primary key (tree_size, witness));
  create table log_witness (
    witness text primary key, old_size bigint not null, cosigned_size bigint not null,
    cosigned_at timestamptz null, trouble text null);
`;

const EMPTY_LOG = `
  insert into log_head (log_id, tree_size, root_hash, frontier, last_at_ms) values (1, 0, '${EMPTY_ROOT}', '', 0)`;

/**
 * Signed, and only ever added. A receipt of 5 KB stays in its row: Postgres would compress it (signatures hardly shrink)
 * and move it out, at a third of what it costs to write it, and every page of a log or a book that shows receipts would
 * fetch it back in pieces. A refusal is found by its task, too: a claim that was blocked is soon forgotten.
 */
const RECEIPTS = `
  create table receipt (
    task_id text primary key, leaf_index bigint not null constraint receipt_leaf_index_unique unique,
    tree_size bigint not null, root_hash text not null, tree_head_hash text not null, payload text not null,
    payload_hash text not null, payload_version smallint not null, jws text not null, kid text not null,
    value text not null, signature jsonb not null, co_signature jsonb not null, payment_ref text null,
    agent_id integer null, book_seq bigint null, payer_wallet text null, hub text not null, model text not null,
    amount numeric(78,0) null, settled_by text null, proof_outcome text not null,
    chain_epoch integer not null default 0, chain_ended boolean not null default false,
    issued_at timestamptz(3) not null, collected_at timestamptz(3) not null,
    ingress_receipt jsonb null, omission_rule text null,
    -- what came of work that was done once more: a payer without a book has no row that could be corrected
    answered_again jsonb null
  ) with (toast_tuple_target = 8160);
  -- By whom a receipt was paid for, in the log's order: what a wallet is told of its own.
  create index receipt_payer on receipt (payer_wallet, leaf_index)
    where payer_wallet is not null and payment_ref is not null;
  create index receipt_agent on receipt (agent_id, leaf_index) where agent_id is not null;

  create table refusal (
    refusal_id text primary key, agent_id integer not null, book_seq bigint not null, refusal_code text not null,
    policy_code text not null, payload text not null, jws text not null, kid text not null, value text not null,
    issued_at timestamptz(3) not null, task_id text not null,
    constraint refusal_row unique (agent_id, book_seq), constraint refusal_task unique (task_id));
`;

/** The issuer's two histories. What was published stands: the database itself refuses to change a row, or to drop one. */
const HISTORIES = `
  create table issuer_snapshot (
    version integer primary key, hash text not null constraint issuer_snapshot_hash_unique unique,
    document text not null, previous_hash text null, activated_at timestamptz(3) not null,
    keys jsonb not null, jws text not null);

  create table receipt_policy (
    version integer primary key, hash text not null constraint receipt_policy_hash_unique unique,
    document text not null, previous_hash text null, activated_at timestamptz(3) not null);

  create function refuse_history_change() returns trigger language plpgsql as $$
      begin raise exception '% is append-only', tg_table_name; end $$;
  create trigger issuer_snapshot_append_only before update or delete or truncate on issuer_snapshot
    for each statement execute function refuse_history_change();
  create trigger receipt_policy_append_only before update or delete or truncate on receipt_policy
    for each statement execute function refuse_history_change();
`;

/**
 * Keys that were revoked; and the database itself takes no leaf and no refusal by a key that signs no more, whichever process
 * still has its seed. Every batch of leaves writes one head, and names its key in it.
 */
const ENDED_KEYS = `
  create table issuer_revocation (
    version integer primary key, hash text not null constraint issuer_revocation_hash_unique unique,
    document text not null, previous_hash text null, activated_at timestamptz(3) not null, jws text not null);
  create trigger issuer_revocation_append_only before update or delete or truncate on issuer_revocation
    for each statement execute function refuse_history_change();

  create function refuse_ended_key() returns trigger language plpgsql as $$
        begin
          if exists (select 1 from issuer_revocation where document::jsonb->>'kid' = new.kid) then
            raise exception 'the key % was revoked, and signs no more', new.kid;
          end if;
          if exists (
            select 1 from issuer_snapshot own join issuer_snapshot next on next.version = own.version + 1
            where own.keys#>>'{es256,kid}' = new.kid
              and next.activated_at < clock_timestamp() - interval '${KEY_OVERLAP_SECONDS} seconds') then
            raise exception 'the key % was retired, and signs no more', new.kid;
          end if;
          return new;
        end $$;
  create trigger tree_head_key before insert on tree_head for each row execute function refuse_ended_key();
  create trigger refusal_key before insert on refusal for each row execute function refuse_ended_key();
`;

/**
 * Revocations of delegated sessions, as they are published, and those of grants that no payment had bound (`unbound`). They are
 * numbered without a gap, so that whoever reads page by page knows that none is missing. What comes without a number the
 * database numbers, one at a time until its transaction ends.
 */
const SESSION_REVOCATIONS = `
  create table session_revocation (
    delegation_hash text primary key, payer text not null, at bigint not null, signature text null,
    revoked_at timestamptz not null, seq bigint not null constraint session_revocation_seq unique,
    unbound boolean not null default false);
  create index session_revocation_unbound on session_revocation (payer) where unbound;

  create function number_revocation() returns trigger language plpgsql as $$
        begin
          perform pg_advisory_xact_lock(hashtext('session_revocation'));
          select coalesce(max(seq), 0) + 1 into new.seq from session_revocation;
          return new;
        end $$;
  create trigger session_revocation_number before insert on session_revocation
    for each row when (new.seq is null) execute function number_revocation();
`;

const CLAIMS = `
  create table payment_claim (
    claim_key text primary key, state text not null, field text not null, request_hash text not null,
    task_id text not null constraint payment_claim_task_id unique, agent_id integer null, lease_owner uuid null,
    lease_epoch integer not null default 0, network text not null, payer text not null, payment_id text not null,
    amount_atomic numeric(78,0) not null, reserved_atomic numeric(78,0) not null, valid_before bigint not null,
    "authorization" jsonb not null, landing jsonb not null, request_box bytea not null, answer_box bytea null,
    settlement_id text null, from_block bigint null, reason text null, final boolean not null default false,
    looked_at timestamptz null, claimed_at timestamptz not null, moved_at timestamptz not null,
    -- pending while a facilitator vouches for what we have not seen
    arrival text null,
    -- why its book refused it: the same payment for the same request gets the same refusal again
    refusal_id text null,
    rerun_owner uuid null, rerun_at timestamptz null,
    -- the name that its client gave it: most have none
    identifier text null,
    -- calls that came to nothing by their callers' doing, and requests that the payment was not made for
    failures integer not null default 0, mismatches jsonb null,
    -- the first of two payments is held with its transfer until its sibling has moved
    held_transfer jsonb null,
    -- what is bound to every member of its request, also to those that this service does not know, names its task here
    whole_task_id text null,
    -- how often its work was done once more
    reruns integer not null default 0);
  create index payment_claim_payment_id on payment_claim (payment_id);
  create index payment_claim_identifier on payment_claim (identifier) where identifier is not null;
  create index payment_claim_settlement on payment_claim (settlement_id);

  -- Small for ever: what reconcile looks through, not what has been recorded.
  create index payment_claim_open on payment_claim (moved_at) where state in ('claimed', 'settling');
  create index payment_claim_released on payment_claim (valid_before) where state = 'released' and not final;
  create index payment_claim_lapsed on payment_claim (valid_before) where state = 'released' and final;
  create index payment_claim_answers on payment_claim (moved_at) where state = 'recorded' and request_box <> '';
  create index payment_claim_arrival on payment_claim (looked_at) where arrival = 'pending';

  -- What a payer has promised and not yet paid: looked up with every claim.
  create index payment_claim_payer_open on payment_claim (payer) where state in ('claimed', 'settling');
  -- Payments that the chain took and did not move: looked up with every contract wallet's payment.
  create index payment_claim_payer_reverted on payment_claim (payer, moved_at) where reason = 'reverted';
  -- Payments on Solana that were worked for and ran out before they were sent: looked up with every payment there.
  create index payment_claim_payer_expired on payment_claim (payer, moved_at)
    where network = 'solana' and reason = 'expired' and settlement_id is null;
  -- Who has paid by a contract's word: looked up with every payment that no key has signed.
  create index payment_claim_contract_payer on payment_claim (payer, moved_at)
    where state in ('settling', 'recorded') and "authorization"->'signature'->>'kind' = 'contract';
  create index payment_claim_held on payment_claim (agent_id) where state = 'held';
  -- What open payments hold under delegated sessions; of a payment without a grant it has nothing.
  create index payment_claim_under on payment_claim using gin ((landing->'delegation'->'path'))
    where state in ('claimed', 'settling', 'held') and landing ? 'delegation';
  -- What came to nothing, as its buyer is told of it: the newest of each first.
  create index payment_claim_agent on payment_claim (agent_id, moved_at)
    where agent_id is not null and state in ('claimed', 'settling', 'released');
  create index payment_claim_payer_released on payment_claim (payer, moved_at) where state = 'released';

  create table claim_slot (slot text primary key, claim_key text not null);
  create index claim_slot_claim on claim_slot (claim_key);

  create table chain_epoch (
    network text not null, epoch integer not null, genesis_hash text not null, last_block bigint not null,
    last_hash text not null, started_at timestamptz not null, primary key (network, epoch));
  -- What a process is known to do goes by its generation: of one that has died it says whether an answer that it worked for could
  -- still go out.
  create table process_lease (
    owner uuid primary key, expires_at timestamptz not null, generation integer not null default 0);
  -- Of which process a worker of jobs is: by that process's lease others know whether it lives.
  create table job_worker (worker_id text primary key, owner uuid not null);

  -- Payments whose settlement the final chain did not have where it was seen.
  create table doubted_payment (
    claim_key text primary key, network text not null, doubted_at timestamptz not null, looked_at timestamptz not null);
  create index doubted_payment_looked_at on doubted_payment (looked_at);
`;

/**
 * The request of a payment that is being answered once more is not cleared from under it: its answer would be delivered, and its
 * charge could be refunded all the same. 180 seconds is `CALL_SECONDS_MAX`. A statement that ends the work itself, as a refund
 * does, passes.
 */
const RESENDS = `
  create function keep_request_of_resend() returns trigger language plpgsql as $$
        begin
          return null;
        end $$;
  create trigger payment_claim_resend before update of request_box on payment_claim
    for each row when (new.request_box = ''::bytea and new.rerun_at is not distinct from old.rerun_at
      and old.rerun_at > clock_timestamp() - interval '180 seconds')
    execute function keep_request_of_resend();
`;

/** Calls that no payment pays for, and what was written under an Idempotency-Key, for as long as an answer is kept. */
const KEY_CALLS = `
  -- One that its buyer has canceled is told apart from those that were lost, and for a while it is found as that.
  create table key_call (
    task_id text primary key, lease_owner uuid not null, begun_at timestamptz not null,
    canceled_at timestamptz null, canceled_for text null);
  create index key_call_canceled on key_call (canceled_for, canceled_at) where canceled_for is not null;

  create table idempotent_call (
    mark text primary key, api_key_hash text not null, request_hash text not null, task_id text not null,
    lease_owner uuid not null, begun_at timestamptz not null, answer_box bytea null, recorded_at timestamptz null,
    whole_task_id text null);
  create index idempotent_call_by_key on idempotent_call (api_key_hash);
  create index idempotent_call_task on idempotent_call (task_id);

  create table written_once (
    mark text primary key, credential_mark text not null, request_hash text not null, attempt text not null,
    written_at timestamptz not null, answer_box bytea null);
  create index written_once_by_credential on written_once (credential_mark);
  create index written_once_at on written_once (written_at);
`;

const SETTLEMENTS = `
  create table settler_key (address text primary key, next_nonce bigint not null);

  create table settlement (
    settlement_id text primary key, key_address text not null, authorizations integer not null,
    from_block bigint not null, valid_before_max bigint not null, state text not null, block_number bigint null,
    block_hash text null, created_at timestamptz not null,
    -- those that a facilitator carries
    posts integer not null default 0, posted_at timestamptz null, vouched_tx text null,
    -- the rounds that look after settlements ask each chain for its own
    network text not null default 'base',
    fee_day date null, eth_price_atomic numeric(78,0) null, fee_max_atomic numeric(78,0) null,
    fee_atomic numeric(78,0) null);
  -- What is still to be watched stays small; final settlements are not looked at again.
  create index settlement_sent on settlement (key_address) where state = 'sent';
  create index settlement_posted on settlement (posted_at) where state = 'sent' and posted_at is not null;
  create index settlement_mined on settlement (network, block_number) where state = 'mined';

  -- A facilitator may carry several of our settlements in one transaction.
  create table settlement_attempt (
    tx_hash text not null, settlement_id text not null, nonce bigint not null, raw text not null,
    max_fee_wei numeric(78,0) not null, priority_fee_wei numeric(78,0) not null, created_at timestamptz not null,
    primary key (settlement_id, tx_hash));

  -- What settling costs, over all processes.
  create table settlement_fee_day (
    day date primary key, fee_atomic numeric(78,0) not null, authorizations bigint not null);
`;

/** What every process that serves this database has in common: see `ServiceMark`. */
const MARKS = 'create table service_mark (name text primary key, mark text not null)';

/** Never edited once it has run: what changes later is a migration of its own, after it. */
export class ReceiptCoreBaseline extends Migration {
  /** What made the same, step by step. */
  static readonly replaces: readonly string[] = [
    'ReceiptBaseline',
    'JobWorkers',
    'LogCosignatures',
    'KeyRevocations',
    'ReceiptsByPayer',
    'DoubtedPayments',
    'HeldLegs',
    'KeyCallsByTask',
    'SessionRevocations',
    'PaidUnderSessions',
    'CanceledKeyCalls',
    'NumberedRevocations',
    'TasksOfBuyers',
    'NumbersOfRevocations',
    'ServiceMarks',
    'BreaksEndCredentials',
    'WritesOnce',
    'RequestsOfResends',
    'GenerationsOfProcesses',
    'WholeRequests',
    'CountedReruns',
  ];

  override up(): void {
    const log = [LOG, RECEIPTS, HISTORIES, ENDED_KEYS, SESSION_REVOCATIONS];
    const payments = [CLAIMS, RESENDS, KEY_CALLS, SETTLEMENTS];
    for (const tables of [...log, ...payments, MARKS]) this.addSql(tables);
    this.addSeed(EMPTY_LOG);
  }
}
