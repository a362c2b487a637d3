import { Migration } from '../../migration.ts';

/**
 * The words of posts and jobs, kept with them: what Postgres has found by a phrase or leaves out by a word it looks at once
 * more, row by row, and making the words anew there takes a hundred times as long. It rewrites both tables.
 */
export class BoardSearchWords extends Migration {
  override up(): void {
    for (const { table, words, shown } of searched)
      this.addSql(`
        alter table ${table} add column search_words tsvector generated always as (to_tsvector('simple', ${words})) stored;
        drop index ${table}_words;
        create index ${table}_words on ${table} using gin (search_words) where ${shown};
      `);
  }
}

/** As it was when this was written: what changes later is a migration of its own. */
const searched = [
  {
    table: 'board_post',
    words: 'board_words(endpoint_host, untrusted_text)',
    shown: 'not hidden and taken_down_at is null',
  },
  {
    table: 'board_job',
    words: `board_words(null, untrusted_text || ' ' || coalesce(untrusted_acceptance_test, ''))`,
    shown: 'true',
  },
] as const;
