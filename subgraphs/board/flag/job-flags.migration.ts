import { Migration } from '../../migration.ts';

/** Flags of jobs, and why something is flagged. */
export class BoardJobFlags extends Migration {
  override up(): void {
    this.addSql(`
      alter table board_flag
        alter column post_id drop not null, add column job_id text null, add column untrusted_reason text null;
      alter table board_flagged alter column post_id drop not null, add column job_id text null;
      create index board_flag_post_reason on board_flag (post_id, flagged_at) where untrusted_reason is not null;
      create index board_flag_job_reason on board_flag (job_id, flagged_at) where untrusted_reason is not null;
    `);
  }
}
