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

/** Rows whose amount was given up: a journal reverses each. */
export class BookGivenUpRows extends Migration {
  override up(): void {
    this.addSql(`create index book_row_given_up on book_row (agent_id, seq) where arrival_status = 'unverified';`);
  }
}

/** Sums of the rows whose money nobody has seen yet, an entry for each day that had any: each page of a book adds them up. */
export class BookUnseenSums extends Migration {
  override up(): void {
    this.addSql(`create index book_sum_unseen on book_sum (agent_id, period)
      where dimension = 'evidence' and bucket = 'RECORDED_BY_SETTLE';`);
  }
}
