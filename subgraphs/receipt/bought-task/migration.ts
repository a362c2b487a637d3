import { Migration } from '@mikro-orm/migrations';

/** Calls by key as their tasks are called: what a buyer asks for by its id. */
export class KeyCallsByTask extends Migration {
  override up(): void {
    this.addSql('create index idempotent_call_task on idempotent_call (task_id)');
  }
}
