import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { iso } from '../../clock.ts';
import { type Database, insertRows, type Tx } from '../../database.ts';
import { type Histories, noHistories } from './histories.ts';
import type { RevocationDocument } from './revocation.ts';
import type { PublicKeys, Version } from './snapshot.ts';

interface Row {
  readonly version: number;
  readonly hash: string;
  readonly document: string;
  readonly previous_hash: string | null;
  readonly activated_at: Date;
}

type SnapshotRow = Row & { readonly keys: PublicKeys; readonly jws: string };
type RevocationRow = Row & { readonly jws: string };

/** From here on nobody else appends, until the transaction ends. Whoever only reads is not held up. */
export async function lockHistories(tx: Tx): Promise<void> {
  await tx.query('lock table issuer_snapshot, receipt_policy, issuer_revocation in share row exclusive mode');
}

export function readHistories(database: Pick<Tx, 'query'>): Promise<Histories> {
  return readAfter(async statement => (await database.query<never>(statement)).rows, noHistories);
}

/** `known` and what was appended since. The same object where nothing was. */
export async function readNewer(database: Pick<Database, 'query'>, known: Histories): Promise<Histories> {
  const read = await readAfter(statement => database.query<never>(statement), known);
  const lengths = ({ snapshots, policies, revocations }: Histories) =>
    [snapshots, policies, revocations].map(it => it.length);
  return String(lengths(read)) === String(lengths(known)) ? known : read;
}

type Query = (statement: { readonly text: string; readonly values: unknown[] }) => Promise<readonly never[]>;

async function readAfter(query: Query, known: Histories): Promise<Histories> {
  const after = (table: string, columns: string, { length }: readonly Version[]) =>
    query({ text: `select ${columns} from ${table} where version > $1 order by version`, values: [length] });
  const common = 'version, hash, document, previous_hash, activated_at';
  const snapshots: readonly SnapshotRow[] = await after('issuer_snapshot', `${common}, keys, jws`, known.snapshots);
  const policies: readonly Row[] = await after('receipt_policy', common, known.policies);
  const revocations: readonly RevocationRow[] = await after('issuer_revocation', `${common}, jws`, known.revocations);
  return {
    revocations: [...known.revocations, ...revocations.map(revocationIn)],
    snapshots: [...known.snapshots, ...snapshots.map(row => ({ ...versionOf(row), keys: row.keys, jws: row.jws }))],
    policies: [...known.policies, ...policies.map(versionOf)],
  };
}

function versionOf({ version, hash, document, previous_hash, activated_at }: Row): Version {
  const parsed = JSON.parse(document) as JsonObject;
  return { version, hash, document: parsed, previous_hash, activated_at: iso(activated_at.getTime()) };
}

function revocationIn(row: RevocationRow) {
  const version = versionOf(row);
  return { ...version, document: version.document as RevocationDocument, jws: row.jws };
}

/** Writes what `histories` has beyond `known`. */
export function appendHistories(tx: Tx, known: Histories, histories: Histories): void {
  insertRows(tx, 'issuer_snapshot', histories.snapshots.slice(known.snapshots.length).map(written));
  insertRows(tx, 'issuer_revocation', histories.revocations.slice(known.revocations.length).map(written));
  insertRows(tx, 'receipt_policy', histories.policies.slice(known.policies.length).map(written));
}

function written<V extends Version>(version: V) {
  return { ...version, document: canonicalJson(version.document) };
}
