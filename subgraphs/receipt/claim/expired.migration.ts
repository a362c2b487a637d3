import { Migration } from '@mikro-orm/migrations';

/** Payments on Solana that were worked for and ran out before they were sent: looked up with every payment there. */
export class ExpiredByPayer extends Migration {
  override up(): void {
    this.addSql(
      `create index payment_claim_payer_expired on payment_claim (payer, moved_at)
        where network = 'solana' and reason = 'expired' and settlement_id is null`,
    );
  }
}
