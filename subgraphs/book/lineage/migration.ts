import { Migration } from '../../migration.ts';

/** Children are found by their parent, in the order of the book; rows that follow from none take no room. */
export class BookLineage extends Migration {
  override up(): void {
    this.addSql('create index book_row_parent on book_row (agent_id, parent_ref, seq) where parent_ref is not null');
  }
}
