import { Migration } from '../../migration.ts';

/** Sessions that a wallet has granted itself are listed by when they were bound: without this each look would go through all sessions. */
export class RootSessions extends Migration {
  override up(): void {
    this.addSql(`create index delegation_roots on delegation (payer, bound_at, delegation_hash)
      where parent_hash is null and bound_at is not null;`);
  }
}
