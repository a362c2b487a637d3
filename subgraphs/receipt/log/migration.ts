import { Migration } from '@mikro-orm/migrations';

/** A break may name the places that are damaged, and may be declared where the head outside the database is lost. */
export class LogBreakDamage extends Migration {
  override async up(): Promise<void> {
    this.addSql('alter table log_break add column damage jsonb, alter column saved drop not null');
  }
}
