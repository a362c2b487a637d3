import { Migration } from '../../migration.ts';

/** What every process that serves this database has in common: see `ServiceMark`. */
export class ServiceMarks extends Migration {
  override up(): void {
    this.addSql('create table service_mark (name text primary key, mark text not null)');
  }
}
