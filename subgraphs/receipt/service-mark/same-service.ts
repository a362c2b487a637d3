import { logOrigin } from '../../../schema/links.ts';
import type { Tx } from '../../database.ts';
import { parseJws } from '../verify/signature.ts';

/* Whether a process may serve a database: it has to be the service that the database has been served by. Pure. */

export type MarkName = 'seal_key' | 'base_url' | 'log_origin';

/** The facts of a process. */
export interface ServiceFacts {
  /** By SEAL_KEY itself: see `Vault.mark`. */
  readonly seal_mark: string;
  readonly base_url: string;
  /** Kids of its ISSUER_KEYS, the current one first. */
  readonly kids: readonly string[];
  /** Kids of the issuer history whose copy is in its DATA_DIR. */
  readonly copied_kids: readonly string[];
}

/** What the database records of the service that it belongs to. Null or empty if it is not recorded yet. */
export interface KnownService {
  readonly seal_mark: string | null;
  readonly base_url: string | null;
  readonly log_origin: string | null;
  /** Kids of the issuer history, oldest first. */
  readonly kids: readonly string[];
}

/** The variables that an operator sets, and that must be the same for all processes that serve one database. */
export type ServicePart = 'SEAL_KEY' | 'ISSUER_KEYS' | 'BASE_URL';

/** The variables by which a process belongs to another service than the database; empty if it may serve. */
export function changedParts(known: KnownService, own: ServiceFacts): readonly ServicePart[] {
  const changed: Readonly<Record<ServicePart, boolean>> = {
    SEAL_KEY: known.seal_mark !== null && known.seal_mark !== own.seal_mark,
    ISSUER_KEYS: isStranger(known.kids, own),
    BASE_URL: known.base_url !== null && known.base_url !== own.base_url,
  };
  return (Object.keys(changed) as ServicePart[]).filter(part => changed[part]);
}

/**
 * A seed replaces the one before it if that one follows it. A seed that was current once belongs to this service;
 * further faults are found when the histories are compared.
 */
function isStranger(known: readonly string[], { kids, copied_kids }: ServiceFacts): boolean {
  const [current = ''] = kids;
  const newest = known.at(-1);
  return newest !== undefined && !kids.includes(newest) && ![...known, ...copied_kids].includes(current);
}

/** The log keeps its first name, whatever the service is called now, because its followers know it by that. */
export function originOf({ log_origin, base_url }: KnownService, own: Pick<ServiceFacts, 'base_url'>): string {
  return log_origin ?? logOrigin(base_url ?? own.base_url);
}

/** A connection, or a transaction. */
interface Client {
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>;
}

/** What a database records of its service, also if a version without marks made it, or if it is new. */
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

/** None if the table does not exist yet. */
async function rowsOf<R>(client: Client, table: string, text: string): Promise<readonly R[]> {
  const [found] = (await client.query(`select to_regclass('public.${table}') as oid`)).rows as { oid: string | null }[];
  if (!found?.oid) return [];
  return (await client.query(text)).rows as R[];
}

/** Stores what is not recorded yet, and leaves the rest unchanged. */
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

/** The mark of each part; for ISSUER_KEYS it is the issuer history. */
const marked: Readonly<Record<ServicePart, MarkName | null>> = {
  SEAL_KEY: 'seal_key',
  BASE_URL: 'base_url',
  ISSUER_KEYS: null,
};

/** The operator's statement that these belong to the same service nevertheless. The log's origin stays. */
export async function acceptMarks(tx: Tx, parts: readonly ServicePart[], own: ServiceFacts): Promise<void> {
  const values: Partial<Record<MarkName, string>> = { seal_key: own.seal_mark, base_url: own.base_url };
  for (const part of parts) {
    const name = marked[part];
    if (name !== null)
      await tx.query({ text: 'update service_mark set mark = $2 where name = $1', values: [name, values[name]] });
  }
}
