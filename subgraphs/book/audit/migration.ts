import { Migration } from '@mikro-orm/migrations';

/**
 * What the audit finds stands on the head itself, so that whoever locks that knows of it. `terms_hash` is null on books
 * that were opened before, until their owner sets something.
 */
export class BookAudit extends Migration {
  override up(): void {
    this.addSql('alter table book add column damage jsonb null, add column terms_hash text null');
    this.addSql('create index book_damaged on book (agent_id) where damage is not null');
  }
}
