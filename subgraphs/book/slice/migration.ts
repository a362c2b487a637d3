import { Migration } from '../../migration.ts';

/** What owners open of their books to others. A token is nowhere: what is kept is its SHA-256. */
export class SliceAssignments extends Migration {
  override up(): void {
    this.addSql(`
      create table slice_assignment (
        assignment_id text primary key, agent_id integer not null, grant_type text not null, grantee text null,
        slice jsonb not null, expires_at timestamptz null, token_hash text not null, created_at timestamptz not null,
        created_session text not null, revoked_at timestamptz null, revoked_by text null, revoked_session text null,
        constraint slice_assignment_token unique (token_hash));
      create index slice_assignment_book on slice_assignment (agent_id);
    `);
  }
}

/** By what whoever made one had opened the book: until then by its session alone. */
export class SliceAssignmentMakers extends Migration {
  override up(): void {
    this.addSql(`alter table slice_assignment add column created_by text not null default 'session'`);
  }
}
