import { Migration } from '@mikro-orm/migrations';

/** Each payment counts the calls that came to nothing by their callers' doing, and the requests that it was not made for. */
export class ClaimFailures extends Migration {
  override up(): void {
    this.addSql(
      'alter table payment_claim add column failures int not null default 0, add column mismatches jsonb null',
    );
  }
}
