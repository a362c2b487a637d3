import { Migration } from '@mikro-orm/migrations';

/** Each payment counts the calls that came to nothing by their callers' doing. */
export class ClaimFailures extends Migration {
  override up(): void {
    this.addSql('alter table payment_claim add column failures int not null default 0');
  }
}
