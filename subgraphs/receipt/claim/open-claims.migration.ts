import { Migration } from '@mikro-orm/migrations';

/** What a payer has promised and not yet paid: looked up with every claim, and small for ever. */
export class OpenClaimsByPayer extends Migration {
  override up(): void {
    this.addSql(
      `create index payment_claim_payer_open on payment_claim (payer) where state in ('claimed', 'settling')`,
    );
  }
}
