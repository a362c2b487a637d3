import { COUNT_STANDING_SESSIONS } from '../../book/ledger/sums.ts';
import { Migration } from '../../migration.ts';

/**
 * What the rows of each book came to by session, also of those that stand. Here, since which call was made under which session is known
 * by tables that come after the books'. A process of the version before that runs on beside counts its rows by no session.
 */
export class SessionSums extends Migration {
  override up(): void {
    this.addSql(COUNT_STANDING_SESSIONS);
  }
}
