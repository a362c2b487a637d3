import { Migration } from '../../migration.ts';

/** What happened on the board, in order. */
export class BoardEvents extends Migration {
  override up(): void {
    this.addSql(`
      create table board_event (
        position bigint primary key, kind text not null, post_id text null, comment_id text null, job_id text null,
        at timestamptz not null);
      create index board_event_post on board_event (post_id, position) where post_id is not null;
      create index board_event_job on board_event (job_id, position) where job_id is not null;
      create table board_head ("only" boolean primary key default true check ("only"), position bigint not null);
      insert into board_head (position) values (0);
    `);
  }
}

/** By what a completion is found that was recorded: events of before name none. */
export class BoardEventTasks extends Migration {
  override up(): void {
    this.addSql('alter table board_event add column task_id text null');
  }
}
