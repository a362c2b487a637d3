import { Migration } from '@mikro-orm/migrations';

/** Nobody looks a claim up by its nonce: the claim's key holds it. Each of a claim's three moves wrote to this index. */
export class ClaimsByKeyAlone extends Migration {
  override up(): void {
    this.addSql('drop index payment_claim_payment_id');
  }
}
