import { Migration } from '@mikro-orm/migrations';

/** Whoever finds that the log does not extend what was signed says so in the row that every batch locks. */
export class LogHaltColumn extends Migration {
  override async up(): Promise<void> {
    this.addSql('alter table log_head add column halted jsonb');
  }
}
