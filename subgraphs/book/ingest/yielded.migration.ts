import { Migration } from '../../migration.ts';

/** Rows that yielded before said so by an event alone: the next rounds append the row that says it. */
export class YieldedRows extends Migration {
  override up(): void {
    this.addSql('update foreign_ingest set corrected_at = null where yielded_to is not null');
  }
}

/** Marked apart from that event, since a process of the version before still writes it. A row that has been told of is not told of again. */
export class YieldedRowsMarked extends Migration {
  override up(): void {
    this.addSql(`
      alter table foreign_ingest add column yield_row_at timestamptz null;
      create index foreign_ingest_yield_owed on foreign_ingest (recorded_at)
        where yielded_to is not null and yield_row_at is null;
      drop index foreign_ingest_yielding;
    `);
  }
}
