import { Migration } from '../../migration.ts';

/**
 * Payments are bound to every member of a request, also to those that this service does not know. What is bound so names its task: a
 * process of the version before leaves the name out as it claims, and leaves the old one standing as it claims again for another task.
 */
export class WholeRequests extends Migration {
  override up(): void {
    this.addSql(`
      alter table payment_claim add column whole_task_id text null;
      alter table idempotent_call add column whole_task_id text null;
    `);
  }
}
