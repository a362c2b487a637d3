import { Migration } from '../../migration.ts';

/** Rows that yielded before said so by an event alone: the next rounds append the row that says it. */
export class YieldedRows extends Migration {
  override up(): void {
    this.addSql('update foreign_ingest set corrected_at = null where yielded_to is not null');
  }
}
