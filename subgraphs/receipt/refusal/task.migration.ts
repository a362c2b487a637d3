import { Migration } from '@mikro-orm/migrations';

/** A refusal is found by its task, too: a claim that was blocked is soon forgotten, or taken up by another request. */
export class RefusalsByTask extends Migration {
  override up(): void {
    this.addSql('alter table refusal add column task_id text null');
    this.addSql("update refusal set task_id = payload::jsonb ->> 'task_id'");
    this.addSql('alter table refusal alter column task_id set not null');
    this.addSql('alter table refusal add constraint refusal_task unique (task_id)');
  }
}
