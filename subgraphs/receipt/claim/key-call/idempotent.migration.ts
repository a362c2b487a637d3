import { Migration } from '@mikro-orm/migrations';

export class IdempotentCalls extends Migration {
  override up(): void {
    this.addSql(`create table idempotent_call (
      mark text primary key, api_key_hash text not null, request_hash text not null, task_id text not null,
      lease_owner uuid not null, begun_at timestamptz not null, answer_box bytea null, recorded_at timestamptz null)`);
    this.addSql('create index idempotent_call_by_key on idempotent_call (api_key_hash)');
  }
}
