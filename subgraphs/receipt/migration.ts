import { Migration } from '@mikro-orm/migrations';

const EMPTY_ROOT = "'\\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'";

/** The log and its receipts. Nodes, signed heads and receipts are only ever added. */
export class ReceiptLogMigration extends Migration {
  override async up(): Promise<void> {
    this.addSql(`create table log_node (
      level smallint not null, index bigint not null, hash bytea not null, primary key (level, index))`);
    this.addSql(`create table log_head (
      log_id smallint primary key, tree_size bigint not null, root_hash bytea not null,
      frontier bytea not null, last_at_ms bigint not null)`);
    this.addSql(`insert into log_head values (1, 0, ${EMPTY_ROOT}, '', 0)`);
    this.addSql(`create table tree_head (
      tree_size bigint primary key, log_id smallint not null, root_hash text not null, tree_head_hash text not null,
      kid text not null, jws text not null, at timestamptz(3) not null)`);
    this.addSql(`create table log_break (
      break_id serial primary key, saved jsonb not null, found jsonb not null, reason text not null,
      declared_at timestamptz(3) not null, kid text not null, jws text not null)`);
    this.addSql(`create table receipt (
      task_id text primary key, leaf_index bigint not null constraint receipt_leaf_index_unique unique, tree_size bigint not null, root_hash text not null,
      tree_head_hash text not null, payload text not null, payload_hash text not null, payload_version smallint not null,
      jws text not null, kid text not null, value text not null, signature jsonb not null, co_signature jsonb not null,
      payment_ref text, agent_id integer, book_seq bigint, payer_wallet text, hub text not null, model text not null,
      amount numeric(78,0), settled_by text, proof_outcome text not null, chain_epoch integer not null default 0, chain_ended boolean not null default false,
      issued_at timestamptz(3) not null, collected_at timestamptz(3) not null)`);
  }
}
