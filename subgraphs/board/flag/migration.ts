import { Migration } from '../../migration.ts';

/** What is flagged, for the operators: by how many, and when last. */
export class BoardFlaggedThings extends Migration {
  override up(): void {
    this.addSql(`
      create table board_flagged (
        thing_id text primary key, post_id text not null, comment_id text null, flag_count integer not null,
        flagged_at timestamptz not null);
      create index board_flagged_newest on board_flagged (flagged_at, thing_id);
      insert into board_flagged (thing_id, post_id, comment_id, flag_count, flagged_at)
        select coalesce(comment_id, post_id), post_id, comment_id, count(*), max(flagged_at)
        from board_flag group by post_id, comment_id;
    `);
  }
}
