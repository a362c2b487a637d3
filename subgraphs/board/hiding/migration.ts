import { Migration } from '../../migration.ts';

/** Jobs that the board's operators hide. */
export class BoardJobHiding extends Migration {
  override up(): void {
    this.addSql(`
      alter table board_job add column hidden boolean not null default false;
      drop index board_job_state;
      create index board_job_state on board_job (state, job_id) where not hidden;
      create index board_job_newest on board_job (job_id) where not hidden;
    `);
  }
}
