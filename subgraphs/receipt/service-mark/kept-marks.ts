import type { Tx } from '../../database.ts';
import { parseJws } from '../verify/signature.ts';
import { type KnownService, type MarkName, originOf, type ServiceFacts, type ServicePart } from './same-service.ts';

/** A connection, or a transaction. */
interface Client {
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>;
}

/** What a database says of whoever has served it, also one that was made by a version without marks, or by nobody yet. */
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

/** None where the table is not there yet. */
async function rowsOf<R>(client: Client, table: string, text: string): Promise<readonly R[]> {
  const [found] = (await client.query(`select to_regclass('public.${table}') as oid`)).rows as { oid: string | null }[];
  if (!found?.oid) return [];
  return (await client.query(text)).rows as R[];
}

/** Keeps what nobody has said yet; what stands is left as it stands. */
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

/** In which mark a part stands; that of ISSUER_KEYS is the issuer history. */
const marked: Readonly<Record<ServicePart, MarkName | null>> = {
  SEAL_KEY: 'seal_key',
  BASE_URL: 'base_url',
  ISSUER_KEYS: null,
};

/** The operator's word that these are of the same service all the same. The log's origin stays. */
export async function acceptMarks(tx: Tx, parts: readonly ServicePart[], own: ServiceFacts): Promise<void> {
  const values: Partial<Record<MarkName, string>> = { seal_key: own.seal_mark, base_url: own.base_url };
  for (const part of parts) {
    const name = marked[part];
    if (name !== null)
      await tx.query({ text: 'update service_mark set mark = $2 where name = $1', values: [name, values[name]] });
  }
}
