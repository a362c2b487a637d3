import { Migration } from '@mikro-orm/migrations';

/** Revocations of delegated sessions, as they are published. */
export class SessionRevocations extends Migration {
  override up(): void {
    this.addSql(`
      create table session_revocation (
        delegation_hash text primary key, payer text not null, at bigint not null, signature text not null,
        revoked_at timestamptz not null);
      create index session_revocation_newest on session_revocation (revoked_at);
    `);
  }
}
