import { Migration } from '@mikro-orm/migrations';

/** What is to be forgotten is found without looking at what was recorded; it stays small, as it is forgotten. */
export class LapsedClaims extends Migration {
  override up(): void {
    this.addSql(`create index payment_claim_lapsed on payment_claim (valid_before) where state = 'released' and final`);
  }
}
