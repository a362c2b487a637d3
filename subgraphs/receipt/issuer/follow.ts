import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { iso } from '../../clock.ts';
import { shareNextRun } from '../../coalesce.ts';
import { type Database, insertRows, type Tx } from '../../database.ts';
import { type Histories, noHistories, requireSound } from './histories.ts';
import { keepCopies } from './kept-copy.ts';
import type { RevocationDocument } from './revocation.ts';
import type { HeldHistories } from './signing-keys.ts';
import type { PublicKeys, Version } from './snapshot.ts';

/** Time within which every process publishes what another process has appended. */
const KNOWN_WITHIN_MS = 1_000;
/**
 * Time for which a process signs nothing with a key that it has appended, so that every process publishes the key first. It has a margin
 * because a timer may be early by a millisecond.
 */
export const UNSIGNED_MS = KNOWN_WITHIN_MS + 100;
/** Maximum time for which a reader waits for a renewal. Then it gets the known histories, so a slow database does not delay it further. */
const WAIT_MS_MAX = 1_000;

interface FollowOptions {
  readonly data_dir: string;
  onFailure(error: unknown): void;
}

/**
 * The histories of the database, held in memory. They are read again on request, at most once a second. So a published key set may be a
 * second old, and more requests cause no more reads. Histories only grow.
 */
export class FollowedHistories implements HeldHistories {
  readonly #database: Pick<Database, 'query'>;
  readonly #options: FollowOptions;
  readonly #read = shareNextRun(() => this.#readAgain());
  #histories: Histories;
  /**
   * Time at which the newest read began, on the monotonic clock. At first it is in the infinite past, so that the first request reads,
   * because the start of a process takes time.
   */
  #read_at_ms = Number.NEGATIVE_INFINITY;

  constructor(database: Pick<Database, 'query'>, histories: Histories, options: FollowOptions) {
    this.#database = database;
    this.#histories = histories;
    this.#options = options;
  }

  latest = (): Histories => this.#histories;

  renew = async (): Promise<void> => {
    if (this.#fresh) return;
    const given_up = new AbortController();
    const patience = sleep(WAIT_MS_MAX, null, { signal: given_up.signal }).catch(() => {});
    await Promise.race([this.#read(), patience]);
    given_up.abort();
  };

  get #fresh(): boolean {
    return performance.now() - this.#read_at_ms < KNOWN_WITHIN_MS;
  }

  async #readAgain(): Promise<void> {
    if (this.#fresh) return;
    const begun_at_ms = performance.now();
    try {
      const newer = await readNewer(this.#database, this.#histories);
      if (newer !== this.#histories) {
        requireSound(newer, 'the database');
        await keepCopies(this.#options.data_dir, newer);
        this.#histories = newer;
      }
    } catch (error) {
      this.#options.onFailure(error);
    }
    // The time is set after a failure too, so that the first request after a second tries again.
    this.#read_at_ms = begun_at_ms;
  }
}

interface Row {
  readonly version: number;
  readonly hash: string;
  readonly document: string;
  readonly previous_hash: string | null;
  readonly activated_at: Date;
}

type SnapshotRow = Row & { readonly keys: PublicKeys; readonly jws: string };
type RevocationRow = Row & { readonly jws: string };

/** Locks the histories: until the transaction ends, no other process appends to them. Readers are not blocked. */
export async function lockHistories(tx: Tx): Promise<void> {
  await tx.query('lock table issuer_snapshot, receipt_policy, issuer_revocation in share row exclusive mode');
}

export function readHistories(database: Pick<Tx, 'query'>): Promise<Histories> {
  return readAfter(async statement => (await database.query<never>(statement)).rows, noHistories);
}

/** Returns `known` with what was appended since, or the same object if nothing was appended. */
async function readNewer(database: Pick<Database, 'query'>, known: Histories): Promise<Histories> {
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
  insertRows(tx, 'issuer_snapshot', histories.snapshots.slice(known.snapshots.length).map(versionRow));
  insertRows(tx, 'issuer_revocation', histories.revocations.slice(known.revocations.length).map(versionRow));
  insertRows(tx, 'receipt_policy', histories.policies.slice(known.policies.length).map(versionRow));
}

function versionRow<V extends Version>(version: V) {
  return { ...version, document: canonicalJson(version.document) };
}
