import { Migration } from '@mikro-orm/migrations';

export class RerunHolds extends Migration {
  override up(): void {
    this.addSql('alter table payment_claim add column rerun_owner uuid null, add column rerun_at timestamptz null');
  }
}
