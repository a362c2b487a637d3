import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { iso } from '../../clock.ts';
import { type Database, insertRows, type Tx } from '../../database.ts';
import type { Histories } from './histories.ts';
import type { PublicKeys, Version } from './snapshot.ts';

interface Row {
  readonly version: number;
  readonly hash: string;
  readonly document: string;
  readonly previous_hash: string | null;
  readonly activated_at: Date;
}

type SnapshotRow = Row & { readonly keys: PublicKeys; readonly jws: string };

/** From here on nobody else appends, until the transaction ends. Whoever only reads is not held up. */
export async function lockHistories(tx: Tx): Promise<void> {
  await tx.query('lock table issuer_snapshot, receipt_policy in share row exclusive mode');
}

export function readHistories(database: Pick<Tx, 'query'>): Promise<Histories> {
  return readAfter(async statement => (await database.query<never>(statement)).rows, { snapshots: [], policies: [] });
}

/** `known` and what was appended since. The same object where nothing was. */
export async function readNewer(database: Pick<Database, 'query'>, known: Histories): Promise<Histories> {
  const read = await readAfter(statement => database.query<never>(statement), known);
  const grown = read.snapshots.length > known.snapshots.length || read.policies.length > known.policies.length;
  return grown ? read : known;
}

type Query = (statement: { readonly text: string; readonly values: unknown[] }) => Promise<readonly never[]>;

async function readAfter(query: Query, known: Histories): Promise<Histories> {
  const after = (table: string, columns: string, { length }: readonly Version[]) =>
    query({ text: `select ${columns} from ${table} where version > $1 order by version`, values: [length] });
  const common = 'version, hash, document, previous_hash, activated_at';
  const snapshots: readonly SnapshotRow[] = await after('issuer_snapshot', `${common}, keys, jws`, known.snapshots);
  const policies: readonly Row[] = await after('receipt_policy', common, known.policies);
  return {
    snapshots: [...known.snapshots, ...snapshots.map(row => ({ ...versionOf(row), keys: row.keys, jws: row.jws }))],
    policies: [...known.policies, ...policies.map(versionOf)],
  };
}

function versionOf({ version, hash, document, previous_hash, activated_at }: Row): Version {
  const parsed = JSON.parse(document) as JsonObject;
  return { version, hash, document: parsed, previous_hash, activated_at: iso(activated_at.getTime()) };
}

/** Writes what `histories` has beyond `known`. */
export function appendHistories(tx: Tx, known: Histories, histories: Histories): void {
  insertRows(tx, 'issuer_snapshot', histories.snapshots.slice(known.snapshots.length).map(written));
  insertRows(tx, 'receipt_policy', histories.policies.slice(known.policies.length).map(written));
}

function written<V extends Version>(version: V) {
  return { ...version, document: canonicalJson(version.document) };
}
