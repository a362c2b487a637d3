import { Migration } from '@mikro-orm/migrations';

const VERSION = `version integer primary key, hash text not null, document text not null, previous_hash text null,
  activated_at timestamptz(3) not null`;

/** The issuer's two histories. What was published stands: the database itself refuses to change a row, or to drop one. */
export class IssuerHistoryTables extends Migration {
  override up(): void {
    this.addSql(`create table issuer_snapshot (${VERSION}, keys jsonb not null, jws text not null,
      constraint issuer_snapshot_hash_unique unique (hash))`);
    this.addSql(`create table receipt_policy (${VERSION}, constraint receipt_policy_hash_unique unique (hash))`);
    this.addSql(`create function refuse_history_change() returns trigger language plpgsql as $$
      begin raise exception '% is append-only', tg_table_name; end $$`);
    for (const table of ['issuer_snapshot', 'receipt_policy']) {
      this.addSql(`create trigger ${table}_append_only before update or delete or truncate on ${table}
        for each statement execute function refuse_history_change()`);
    }
  }
}
