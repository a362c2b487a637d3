import { Migration } from '@mikro-orm/migrations';
import { STANDING_DAYS } from '../ledger/days.ts';

/** Rows by day and evidence; those that stand are counted once, by what counts those that follow. */
export class BookDays extends Migration {
  override up(): void {
    this.addSql(`
      create table book_day (
        agent_id integer not null, day date not null, evidence text not null, rows integer not null,
        primary key (agent_id, day, evidence))`);
    this.addSql(STANDING_DAYS);
  }
}
