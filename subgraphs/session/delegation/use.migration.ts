import { Migration } from '../../migration.ts';

/** Counts of what sessions do that nobody pays for. */
export class SessionUses extends Migration {
  override up(): void {
    this.addSql(`
      create table session_use (
        holder varchar(80) not null, period timestamptz not null, uses integer not null, primary key (holder, period));
      create index session_use_period on session_use (period);
    `);
  }
}
