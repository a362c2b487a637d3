import { Migration } from '@mikro-orm/migrations';

/**
 * Whoever holds a payment may ask how it stands, by its nonce or message hash, or by the identifier that its client gave
 * it: most have none.
 */
export class ClaimsByPublicId extends Migration {
  override up(): void {
    this.addSql('alter table payment_claim add column identifier text null');
    this.addSql('create index payment_claim_payment_id on payment_claim (payment_id)');
    this.addSql('create index payment_claim_identifier on payment_claim (identifier) where identifier is not null');
  }
}
