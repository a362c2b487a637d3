import { Migration } from '../../migration.ts';

/** What lies below a session is found by its path: without this each look would go through all sessions. */
export class SessionSubtrees extends Migration {
  override up(): void {
    this.addSql('create index delegation_path on delegation using gin (path)');
  }
}
