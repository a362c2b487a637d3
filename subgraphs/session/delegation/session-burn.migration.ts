import { Migration } from '../../migration.ts';

/**
 * What each session has burnt, payment by payment: also of payments that were recorded before this was kept. A process of the
 * version before that runs on beside counts what it records, and tells nobody: `spent_atomic` leaps by so much at the next.
 */
export class SessionBurns extends Migration {
  override up(): void {
    this.addSql(`
      create table session_burn (
        delegation_hash text not null, position bigint not null, task_id text not null, paid_under text not null,
        amount_atomic numeric(78,0) not null, spent_atomic numeric(78,0) not null,
        primary key (delegation_hash, position));
      insert into session_burn
        select name, row_number() over so_far, task_id, d.delegation_hash, amount_atomic, sum(amount_atomic) over so_far
        from delegated_call c join delegation d on d.delegation_hash = c.delegation_hash,
          jsonb_array_elements_text(d.path) as names(name)
        window so_far as (partition by name order by task_id);
      alter table delegation add column burn_position bigint not null default 0;
      update delegation d set burn_position = n.newest
        from (select delegation_hash, max(position) as newest from session_burn group by delegation_hash) n
        where d.delegation_hash = n.delegation_hash;
    `);
  }
}
