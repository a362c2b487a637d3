import { Migration } from '../../migration.ts';

/**
 * By which posts and jobs are searched. `board_words`: a host, also part by part, and a text, in lower case and without
 * accents: in Postgres's own means, since not every server has the extension for it.
 *
 * What is misspelt is found by pg_trgm. Where the server has no such extension, or its owner does not let us have it,
 * there are no indexes for it, and none of that is looked for (see similarity.ts).
 */
export class BoardSearch extends Migration {
  override up(): void {
    this.addSql(String.raw`
      do $do$
      declare
        -- Postgres normalises in UTF-8 alone.
        plain text := case getdatabaseencoding() when 'UTF8'
          then $words$regexp_replace(normalize(%s, NFKD), '[\u0300-\u036f]', '', 'g')$words$ else '%s' end;
      begin
        execute format('create function board_words(host text, body text) returns text language sql immutable parallel safe as %L',
          'select lower(' || format(plain, $words$coalesce(host, '') || ' ' || translate(coalesce(host, ''), '.-:', '   ')
            || ' ' || coalesce(body, '')$words$) || ')');
      end $do$`);
    for (const { table, words, shown } of searched)
      this.addSql(`create index ${table}_words on ${table} using gin (to_tsvector('simple', ${words})) where ${shown}`);
    this.addSql(`
      do $do$
      declare
        place name;
      begin
        if exists (select from pg_available_extensions where name = 'pg_trgm') then
          begin
            create extension if not exists pg_trgm;
          exception when others then
            raise notice 'pg_trgm is not ours to have: %', sqlerrm;
          end;
        end if;
        select nspname into place from pg_extension join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm';
        if place is not null then
          ${searched.map(similarIndex).join('\n          ')}
        end if;
      end $do$`);
  }
}

interface Searched {
  readonly table: string;
  readonly words: string;
  readonly shown: string;
}

/** As it was when this was written: what changes later is a migration of its own. */
const searched: readonly Searched[] = [
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
];

/** The extension may lie in any schema. */
const similarIndex = ({ table, words, shown }: Searched) =>
  `execute format($index$create index ${table}_similar on ${table} using gin ((${words}) %I.gin_trgm_ops) where ${shown}$index$, place);`;
