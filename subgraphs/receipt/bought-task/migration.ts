import { Migration } from '../../migration.ts';

/** Calls by key as their tasks are called: what a buyer asks for by its id. */
export class KeyCallsByTask extends Migration {
  override up(): void {
    this.addSql('create index idempotent_call_task on idempotent_call (task_id)');
  }
}

/** What came to nothing, and what landed on somebody's book, as its buyer is told of it: the newest of each first. */
export class TasksOfBuyers extends Migration {
  override up(): void {
    this.addSql(`
      create index receipt_agent on receipt (agent_id, leaf_index) where agent_id is not null;
      create index payment_claim_agent on payment_claim (agent_id, moved_at)
        where agent_id is not null and state in ('claimed', 'settling', 'released');
      create index payment_claim_payer_released on payment_claim (payer, moved_at) where state = 'released';
      create index key_call_canceled on key_call (canceled_for, canceled_at) where canceled_for is not null;
    `);
  }
}
