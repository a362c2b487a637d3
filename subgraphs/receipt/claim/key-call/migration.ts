import { Migration } from '../../../migration.ts';

/** Calls by key that their buyer has canceled are told apart from those that were lost, and for a while they are found as that. */
export class CanceledKeyCalls extends Migration {
  override up(): void {
    this.addSql('alter table key_call add column canceled_at timestamptz null, add column canceled_for text null');
  }
}
