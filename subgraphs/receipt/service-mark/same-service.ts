import { logOrigin } from '../../../schema/links.ts';
import type { Tx } from '../../database.ts';
import { parseJws } from '../verify/signature.ts';

/* Decides whether a process may serve a database: it must belong to the service that has served the database before. */

export type MarkName = 'seal_key' | 'base_url' | 'log_origin';

/** Facts that show to which service a process belongs. */
export interface ServiceFacts {
  /** Mark of a fixed text, made with SEAL_KEY: see `Vault.mark`. */
  readonly seal_mark: string;
  readonly base_url: string;
  /** Kids of its ISSUER_KEYS, the current one first. */
  readonly kids: readonly string[];
  /** Kids of the issuer history whose copy is in its DATA_DIR. */
  readonly copied_kids: readonly string[];
}

/** What the database records about the service that it belongs to. A member is null or empty if it is not recorded yet. */
export interface KnownService {
  readonly seal_mark: string | null;
  readonly base_url: string | null;
  readonly log_origin: string | null;
  /** Kids of the issuer history, oldest first. */
  readonly kids: readonly string[];
}

/** The variables that an operator sets, and that must be the same for all processes that serve one database. */
export type ServicePart = 'SEAL_KEY' | 'ISSUER_KEYS' | 'BASE_URL';

/** Variables that show that a process belongs to another service than the database. Empty if it may serve the database. */
export function changedParts(known: KnownService, own: ServiceFacts): readonly ServicePart[] {
  const changed: Readonly<Record<ServicePart, boolean>> = {
    SEAL_KEY: known.seal_mark !== null && known.seal_mark !== own.seal_mark,
    ISSUER_KEYS: isStranger(known.kids, own),
    BASE_URL: known.base_url !== null && known.base_url !== own.base_url,
  };
  return (Object.keys(changed) as ServicePart[]).filter(part => changed[part]);
}

/**
 * Whether the keys of a process belong to another service. A new seed may replace the current one only if the current one follows it in
 * ISSUER_KEYS. A seed that was current once also belongs to this service; further faults are found when the histories are compared.
 */
function isStranger(known: readonly string[], { kids, copied_kids }: ServiceFacts): boolean {
  const [current = ''] = kids;
  const newest = known.at(-1);
  return newest !== undefined && !kids.includes(newest) && ![...known, ...copied_kids].includes(current);
}

/** Name of the log. The log keeps its first name even if the base URL changes, because its followers know it by that name. */
export function originOf({ log_origin, base_url }: KnownService, own: Pick<ServiceFacts, 'base_url'>): string {
  return log_origin ?? logOrigin(base_url ?? own.base_url);
}

/** A connection, or a transaction. */
interface Client {
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Reads what a database records about its service. The database may be new, or made by a version without marks. */
export async function knownService(client: Client): Promise<KnownService> {
  const marks = new Map(
    (await rowsOf<{ name: MarkName; mark: string }>(client, 'service_mark', 'select name, mark from service_mark')).map(
      ({ name, mark }) => [name, mark],
    ),
  );
  const snapshots = await rowsOf<{ kid: string; jws: string }>(
    client,
    'issuer_snapshot',
    `select keys#>>'{es256,kid}' as kid, jws from issuer_snapshot order by version`,
  );
  const heads = await rowsOf<{ jws: string }>(
    client,
    'tree_head',
    'select jws from tree_head order by tree_size desc limit 1',
  );
  const signed = parseJws((heads[0] ?? snapshots.at(-1))?.jws)?.claims.iss;
  return {
    seal_mark: marks.get('seal_key') ?? null,
    base_url: marks.get('base_url') ?? (typeof signed === 'string' ? signed : null),
    log_origin: marks.get('log_origin') ?? null,
    kids: snapshots.map(({ kid }) => kid),
  };
}

/** Rows of the query. Empty if the table does not exist yet. */
async function rowsOf<R>(client: Client, table: string, text: string): Promise<readonly R[]> {
  const [found] = (await client.query(`select to_regclass('public.${table}') as oid`)).rows as { oid: string | null }[];
  if (!found?.oid) return [];
  return (await client.query(text)).rows as R[];
}

/** Stores the marks that are not recorded yet, and leaves the others unchanged. */
export async function keepMarks(tx: Tx, known: KnownService, own: ServiceFacts): Promise<void> {
  const marks: Readonly<Record<MarkName, string>> = {
    seal_key: known.seal_mark ?? own.seal_mark,
    base_url: known.base_url ?? own.base_url,
    log_origin: originOf(known, own),
  };
  await tx.query({
    text: `insert into service_mark (name, mark) select * from json_each_text($1) on conflict (name) do nothing`,
    values: [JSON.stringify(marks)],
  });
}

/** Name of the mark of each variable. Null for ISSUER_KEYS, whose mark is the issuer history. */
const marked: Readonly<Record<ServicePart, MarkName | null>> = {
  SEAL_KEY: 'seal_key',
  BASE_URL: 'base_url',
  ISSUER_KEYS: null,
};

/**
 * Replaces the marks of these variables, after the operator has stated that their new values belong to the same service. The log's origin
 * does not change.
 */
export async function acceptMarks(tx: Tx, parts: readonly ServicePart[], own: ServiceFacts): Promise<void> {
  const values: Partial<Record<MarkName, string>> = { seal_key: own.seal_mark, base_url: own.base_url };
  for (const part of parts) {
    const name = marked[part];
    if (name !== null)
      await tx.query({ text: 'update service_mark set mark = $2 where name = $1', values: [name, values[name]] });
  }
}
