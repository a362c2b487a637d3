import { Migration } from '../../migration.ts';

/**
 * Where books tell of their events. URL and secrets are sealed. What is wanted stands on the head too, which is read under
 * its lock anyway: a book without a webhook costs no look.
 */
export class BookWebhooks extends Migration {
  override up(): void {
    this.addSql(`
      alter table book add column webhook_kinds jsonb null, add column webhook_messages integer not null default 0;
      create table webhook (
        agent_id integer primary key, box bytea null, events jsonb not null, enabled boolean not null,
        told_position integer not null default 0, told_messages integer not null default 0,
        deliveries integer not null default 0, failures integer not null default 0, last_status integer null,
        last_error text null, failures_in_row integer not null default 0, rests_until timestamptz null,
        answered_at timestamptz null, room jsonb not null default '{}', created_at timestamptz not null,
        changed_at timestamptz not null, changed_by jsonb null);
      create table webhook_dead_letter (
        agent_id integer not null, position integer not null, kind text not null, attempts integer not null,
        given_up_at timestamptz not null, last_status integer null, last_error text null,
        primary key (agent_id, position, kind));
      create index webhook_dead_letter_age on webhook_dead_letter (given_up_at);
    `);
  }
}
