import { Migration } from '../../migration.ts';

/** What was written under an Idempotency-Key, for as long as an answer is kept. */
export class WritesOnce extends Migration {
  override up(): void {
    this.addSql(`
      create table written_once (
        mark text primary key, credential_mark text not null, request_hash text not null, attempt text not null,
        written_at timestamptz not null, answer_box bytea null);
      create index written_once_by_credential on written_once (credential_mark);
      create index written_once_at on written_once (written_at);
    `);
  }
}
