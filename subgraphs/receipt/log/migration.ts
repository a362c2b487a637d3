import { Migration } from '../../migration.ts';

/** Who vouches for the log's heads, and how far each has come. */
export class LogCosignatures extends Migration {
  override up(): void {
    this.addSql(`
      create table log_cosignature (
        tree_size bigint not null, witness text not null, root_hash text not null, line text not null,
        at timestamptz not null, primary key (tree_size, witness));

      create table log_witness (
        witness text primary key, old_size bigint not null, cosigned_size bigint not null,
        cosigned_at timestamptz null, trouble text null);
    `);
  }
}

/** A break names the books that went back, and ends credentials: also delegated sessions, by no payer's word. */
export class BreaksEndCredentials extends Migration {
  override up(): void {
    this.addSql(`
      alter table log_break add column books jsonb null, add column credentials_ended boolean not null default false;
      alter table session_revocation alter column signature drop not null;
    `);
  }
}
