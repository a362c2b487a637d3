import { Migration } from '@mikro-orm/migrations';

/** Grants that were revoked before any payment had bound them. */
export class UnboundRevocations extends Migration {
  override up(): void {
    this.addSql('alter table session_revocation add column unbound_until bigint null');
    this.addSql(
      'create index session_revocation_unbound on session_revocation (payer, unbound_until) where unbound_until is not null',
    );
  }
}
