import { Migration } from '../../migration.ts';

/**
 * Rows of one intent that rest on one evidence, in the order of seq. By an index of either alone a page of few such rows runs
 * down all of the intent's. Of rows without an intent it holds none.
 */
export class BookIntentEvidence extends Migration {
  override up(): void {
    this.addSql(`create index book_row_intent_evidence_seq on book_row (agent_id, intent_id, evidence, seq)
      where intent_id is not null;`);
  }
}
