import { Migration } from '../../migration.ts';

/** What each book came to and which receipt each payment backs, as trees behind the log. All of it follows from the log's leaves. */
export class TotalsBaseline extends Migration {
  /** What made the same. */
  static readonly replaces: readonly string[] = ['ProvenTotals'];

  override up(): void {
    this.addSql(`
      -- One row: how far the log was followed, the statement that was signed over that, and what keeps it from going on.
      create table totals_state (
        totals_id smallint primary key, tree_size bigint not null, root_hash text not null, statement text null,
        conflict jsonb null);

      -- Transfers that were only vouched for when their receipts were signed, and have been seen since.
      create table totals_seen (
        task_id text primary key, payment_ref text not null, transfer_index integer null,
        counted boolean not null default false);
      create index totals_seen_uncounted on totals_seen (task_id) where not counted;

      create table totals_row (
        task_id text primary key, leaf_index bigint not null, agent_id integer null, rail text not null,
        row_index bigint null, payment_key text null);
      create unique index totals_row_payment on totals_row (payment_key);

      create table totals_book (
        agent_id integer not null, rail text not null, rows bigint not null, total numeric(78,0) not null, root text not null,
        primary key (agent_id, rail));

      create table totals_node (
        agent_id integer not null, rail text not null, level smallint not null, index bigint not null,
        sum numeric(78,0) not null, hash bytea not null, primary key (agent_id, rail, level, index));

      create table totals_page (map text not null, prefix text not null, page jsonb not null, primary key (map, prefix));
    `);
    this.addSeed(`insert into totals_state (totals_id, tree_size, root_hash) values (1, 0, '')`);
    this.addSeed(`
      insert into totals_seen (task_id, payment_ref)
        select task_id, ingress_receipt->>'ref' from receipt where ingress_receipt->>'ref' is not null
    `);
  }
}
