import { Migration } from '@mikro-orm/migrations';

/** Payments that the chain took and did not move: looked up with every contract wallet's payment. */
export class RevertedByPayer extends Migration {
  override up(): void {
    this.addSql(
      `create index payment_claim_payer_reverted on payment_claim (payer, moved_at) where reason = 'reverted'`,
    );
  }
}
