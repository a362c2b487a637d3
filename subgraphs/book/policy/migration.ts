import { Migration } from '@mikro-orm/migrations';

/** What a book's owner allows, and what was collected in the present hour and day (UTC): all that a reservation is judged by. */
export class BookPolicyColumns extends Migration {
  override up(): void {
    this.addSql(`alter table book
      add column policy jsonb not null default '{}',
      add column hour_start timestamptz null,
      add column hour_atomic numeric(78,0) not null default '0',
      add column day_start timestamptz null,
      add column day_atomic numeric(78,0) not null default '0'`);
    // A cap set in the hour of this change must know what was collected in it before.
    this.addSql(`update book b set
        hour_start = date_trunc('hour', now(), 'UTC'), day_start = date_trunc('day', now(), 'UTC'),
        hour_atomic = p.hour_atomic, day_atomic = p.day_atomic
      from (select agent_id, sum(amount) as day_atomic,
          coalesce(sum(amount) filter (where collected_at >= date_trunc('hour', now(), 'UTC')), 0) as hour_atomic
        from book_row where amount is not null and collected_at >= date_trunc('day', now(), 'UTC') group by 1) p
      where b.agent_id = p.agent_id`);
  }
}
