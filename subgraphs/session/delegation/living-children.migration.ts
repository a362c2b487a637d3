import { Migration } from '../../migration.ts';

/** A session may have so many children at once: those that are over are passed by without being read. */
export class LivingChildren extends Migration {
  override up(): void {
    this.addSql('create index delegation_children on delegation (parent_hash, session_expiry)');
    this.addSql('drop index delegation_parent');
  }
}
