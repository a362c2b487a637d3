import { Migration } from '@mikro-orm/migrations';

/**
 * A receipt of 5 KB stays in its row. Postgres would compress it (signatures hardly shrink) and move it out, at a third of
 * what it costs to write it, and every page of a log or a book that shows receipts would fetch it back in pieces.
 */
export class ReceiptsInline extends Migration {
  override up(): void {
    this.addSql('alter table receipt set (toast_tuple_target = 8160)');
  }
}
