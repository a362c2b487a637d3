import { Migration } from '../../migration.ts';

/** What a book alerts of and what it has told; its alerts, and how they were set, by their time. */
export class BookAlerts extends Migration {
  override up(): void {
    this.addSql(`
      alter table book add column alert_settings jsonb not null default '{}',
        add column alert_state jsonb not null default '{}';
      create index book_event_alert on book_event (agent_id, kind, position) where kind in ('alert', 'alerts_changed');
    `);
  }
}
