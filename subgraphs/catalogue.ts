import type pg from 'pg';

/** Postgres's definition of one object: a table, a sequence, a function, or a part of a table, such as a column or an index. */
interface Entry {
  /** The table, sequence or function that the object is, or belongs to. */
  readonly of: string;
  /** Kind and name, as an operator would search for it: `index payment_claim_open`. */
  readonly name: string;
  readonly definition: string;
}

/**
 * Query for the definitions of everything that affects which rows a table accepts, stores and finds. Owners, grants and storage parameters
 * are left out, because the operator may choose them.
 */
const CATALOGUE = `
  with own as (
    select oid, relname, relkind, relpersistence, relrowsecurity,
      (select array_agg(option order by option) from unnest(reloptions) option
        where option !~ '^((log_)?(auto)?vacuum_|fillfactor=|parallel_workers=)') as options
    from pg_class where relnamespace = $1::text::regnamespace and relkind in ('r', 'p', 'f', 'v', 'm')),
  entry as (
    select 'table ' || relname as of, 'table ' || relname as name, concat_ws(' ', relkind, relpersistence,
      relrowsecurity, options) as definition
    from own
  union all
    select 'table ' || relname, format('column %s.%s', relname, attname), concat_ws(' ',
      format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, attcollation, attstorage,
      attcompression, pg_get_expr(adbin, adrelid))
    from own join pg_attribute on attrelid = own.oid and attnum > 0 and not attisdropped
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
  union all
    select 'table ' || own.relname, 'index ' || named.relname, concat_ws(' ', pg_get_indexdef(indexrelid), indisvalid)
    from own join pg_index on indrelid = own.oid join pg_class named on named.oid = indexrelid
  union all
    -- Not null is said of the column.
    select 'table ' || relname, format('constraint %s of %s', conname, relname),
      concat_ws(' ', pg_get_constraintdef(con.oid), convalidated)
    from own join pg_constraint con on conrelid = own.oid and contype <> 'n'
  union all
    select 'table ' || relname, format('trigger %s of %s', tgname, relname),
      concat_ws(' ', pg_get_triggerdef(tg.oid), tgenabled)
    from own join pg_trigger tg on tgrelid = own.oid and not tgisinternal
  union all
    select 'table ' || relname, format('rule %s of %s', rulename, relname),
      concat_ws(' ', pg_get_ruledef(rule.oid), ev_enabled)
    from own join pg_rewrite rule on ev_class = own.oid and rulename <> '_RETURN'
  union all
    select 'sequence ' || relname, 'sequence ' || relname, concat_ws(' ', relpersistence,
      format_type(seqtypid, null), seqstart, seqincrement, seqmin, seqmax, seqcycle)
    from pg_sequence join pg_class on pg_class.oid = seqrelid where relnamespace = $1::text::regnamespace
  union all
    select 'function ' || proname, format('function %s(%s)', proname, pg_get_function_identity_arguments(oid)),
      pg_get_functiondef(oid)
    -- Those of an extension are its own.
    from pg_proc where pronamespace = $1::text::regnamespace and prokind = 'f' and not exists (
      select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e'))
  select of, name, replace(definition, $1::text || '.', '') as definition from entry order by name`;

export type Catalogue = readonly Entry[];

/** Catalogue of one schema. `schema` must be quoted if its name requires quotes. */
export async function catalogueOf(client: pg.ClientBase, schema: string): Promise<Catalogue> {
  return (await client.query<Entry>(CATALOGUE, [schema])).rows;
}

/**
 * Describes in words how `found` differs from `wanted`. Objects named in `optional` may be missing. Tables, sequences and functions that
 * `wanted` does not contain are ignored, and so are added indexes that refuse no row.
 */
export function differencesOf(found: Catalogue, wanted: Catalogue, optional: readonly string[]): string[] {
  const ours = new Set(wanted.map(({ of }) => of));
  const there = new Map(found.map(({ name, definition }) => [name, definition]));
  const known = new Set(wanted.map(({ name }) => name));
  return [
    ...wanted
      .filter(({ name }) => !there.has(name) && !optional.includes(name))
      .map(({ name }) => `${name} is missing`),
    ...wanted
      .filter(({ name, definition }) => there.has(name) && there.get(name) !== definition)
      .map(({ name }) => `${name} is another`),
    ...found
      .filter(entry => ours.has(entry.of) && !known.has(entry.name) && !isMereIndex(entry))
      .map(({ name }) => `${name} was added`),
  ];
}

/**
 * Whether the entry is an index that is not unique. The index of an exclusion constraint counts too, because the constraint itself is
 * reported.
 */
function isMereIndex({ name, definition }: Entry): boolean {
  return name.startsWith('index ') && definition.startsWith('CREATE INDEX ');
}
