import { Migration } from '../../migration.ts';

/** Policies in shadow mode, apart from those that refuse. */
export class ShadowPolicies extends Migration {
  override up(): void {
    this.addSql(`alter table book add column shadow jsonb not null default '{}'`);
  }
}
