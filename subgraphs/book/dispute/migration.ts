import { Migration } from '../../migration.ts';

/** What was claimed of rows, and decided. A verdict is kept as it was signed, byte for byte. */
export class DisputeTable extends Migration {
  override up(): void {
    this.addSql(`
      create table dispute (
        dispute_id text primary key, agent_id integer not null, seq integer not null, task_id text not null,
        claim_type text not null, evidence_hash text not null, outcome text null, reason text not null,
        position integer not null, filed_at timestamptz not null, judged_at timestamptz not null, verdict text not null,
        constraint dispute_claim unique (agent_id, task_id, claim_type, evidence_hash));
      create index dispute_book on dispute (agent_id, dispute_id);
      create index dispute_filed on dispute (agent_id, filed_at);
    `);
  }
}
