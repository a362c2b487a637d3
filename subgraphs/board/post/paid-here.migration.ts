import { Migration } from '../../migration.ts';

/** Which posts rest on money that came to this service: those alone a score may count, the heaviest first. */
export class BoardScoresPaidHere extends Migration {
  override up(): void {
    this.addSql(`
      alter table board_post add paid_here boolean not null default false;
      update board_post p set paid_here = true
        where exists (select from book_row r
          where r.agent_id = p.agent_id and r.task_id = p.receipt_ref and r.evidence = 'collected');
      drop index board_post_weighable;
      create index board_post_heaviest on board_post (endpoint_host, amount_atomic, post_id)
        where not hidden and taken_down_at is null and host_basis = 'signed' and paid_here
          and receipt_ref is not null and rail = 'usdc' and amount_atomic >= 2000;
    `);
  }
}
