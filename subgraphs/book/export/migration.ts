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

/** Of how many rows an export is, beside the signed text: whoever pulls its CSV alone reads it in headers. */
export class PullExportExtent extends Migration {
  override up(): void {
    this.addSql(`
      alter table pull_export add column truncated boolean null, add column matching_count integer null;
      update pull_export set
        truncated = (signed::json->'coverage'->>'truncated')::boolean or empty_reason is not distinct from 'empty_by_drain',
        matching_count = (signed::json->'coverage'->>'enumerated_count')::integer
          + (signed::json->'coverage'->>'omitted_by_policy_count')::integer
      where signed is not null;
    `);
  }
}
