import type { Database } from '../../database.ts';

const places = new WeakMap<Database, Promise<string | null>>();

/** The schema in which pg_trgm lies, quoted; null where there is none, or no index by it. Looked up once in a process. */
export function similarityPlace(database: Database): Promise<string | null> {
  const known = places.get(database) ?? findPlace(database);
  places.set(database, known);
  // A database that was away is asked again.
  known.catch(() => places.delete(database));
  return known;
}

async function findPlace(database: Database): Promise<string | null> {
  const text = `select quote_ident(nspname) as place from pg_extension join pg_namespace on pg_namespace.oid = extnamespace
    where extname = 'pg_trgm' and to_regclass('board_post_similar') is not null and to_regclass('board_job_similar') is not null`;
  const [found] = await database.query<{ place: string }>({ name: 'place of pg_trgm', text });
  return found?.place ?? null;
}
