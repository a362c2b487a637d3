import { Migration } from '../../migration.ts';

/** Which transfers were recorded as payments to somebody else. */
export class ForeignIngests extends Migration {
  override up(): void {
    this.addSql(`
      create table foreign_ingest (
        task_id text primary key, agent_id integer not null, slot text not null, transfer jsonb not null,
        seen_in jsonb not null, payer_proven boolean not null, standing text not null,
        recorded_at timestamptz not null, looked_at timestamptz not null, yielded_to text null,
        corrected_at timestamptz null);
      create index foreign_ingest_slot on foreign_ingest (slot);
      create index foreign_ingest_pending on foreign_ingest (looked_at) where standing = 'pending';
      create index foreign_ingest_yielding on foreign_ingest (recorded_at)
        where yielded_to is not null and corrected_at is null;
    `);
  }
}
