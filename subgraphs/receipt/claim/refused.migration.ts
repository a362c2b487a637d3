import { Migration } from '@mikro-orm/migrations';

/** A claim that its book refused names the refusal: the same payment for the same request gets it again. */
export class RefusedClaims extends Migration {
  override up(): void {
    this.addSql('alter table payment_claim add column refusal_id text null');
  }
}
