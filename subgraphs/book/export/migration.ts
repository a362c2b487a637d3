import { Migration } from '../../migration.ts';

/** What owners publish of their books. `signed` and `csv` are null until the first build has come to its end. */
export class PullExportTable extends Migration {
  override up(): void {
    this.addSql(`
      create table pull_export (
        agent_id integer primary key, slug text not null, published_at timestamptz not null,
        exported_at timestamptz null, row_count integer null, complete boolean null, empty_reason text null,
        signed text null, csv text null,
        constraint pull_export_slug unique (slug));
    `);
  }
}
