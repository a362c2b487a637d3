import { Migration } from '@mikro-orm/migrations';

export class KeyCallTable extends Migration {
  override up(): void {
    this.addSql(
      'create table key_call (task_id text primary key, lease_owner uuid not null, begun_at timestamptz not null)',
    );
  }
}
