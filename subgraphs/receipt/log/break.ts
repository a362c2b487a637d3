import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { type Database, insertRows, type Tx } from '../../database.ts';
import type { Issuer } from '../issuer/signing-keys.ts';
import type { DeclaredAnchor } from './anchored-head.ts';
import type { Damage } from './audit.ts';
import { type BrokenBooks, brokenNames } from './broken-books.ts';
import { storedHead } from './prove-intact.ts';
import { signedHead } from './signed-heads.ts';
import { storedRoot } from './stored-proofs.ts';
import { LOG_ID, type SignedTreeHead, type TreeHeadFacts } from './tree-head.ts';

/** A break of the log that the operator declares: what was signed, what is left, and why. It is signed, published and never withdrawn. */
export interface LogBreak {
  /** Head that was saved outside the database. Null if it was lost, because it is then unknown what was signed. */
  readonly saved: TreeHeadFacts | null;
  readonly found: TreeHeadFacts;
  /**
   * Newest anchor on Base, which the log need no longer extend. Absent if there is none, or if it could not be read; the anchors then bind
   * as before.
   */
  readonly anchored?: DeclaredAnchor | null;
  /** Nodes that disagree with their receipts, hash by hash. From now on audits ignore these, and no others. */
  readonly damage: readonly Damage[];
  /** Books that had lost events; absent if none had. */
  readonly books?: BrokenBooks | null;
  readonly reason: string;
  /** Time of the declaration (ISO 8601). */
  readonly declared_at: string;
}

/** Time limit of each statement. Ending all credentials changes whole tables, each in one statement. */
const ENDING = { statement_ms_max: 900_000 } as const;

/**
 * Ends all credentials, in the transaction of the declaration. Credentials that were revoked in the lost part may be valid again in what is
 * left.
 */
export type EndCredentials = (tx: Tx, at: string) => Promise<void>;

/**
 * Signs and stores a declaration, and ends a halt: from then on the log is what the declaration says is left. Returns the declaration with
 * its signature. `endCredentials` is null if an earlier declaration has ended everything that the lost part could have ended, see
 * `isNewLoss`.
 */
export async function declareBreak(
  database: Database,
  issuer: Issuer,
  declared: LogBreak,
  endCredentials: EndCredentials | null,
): Promise<JsonObject> {
  const facts = {
    schema: documents.log_break,
    log_id: LOG_ID,
    ...(declared.saved && { saved: headMembers(declared.saved) }),
    found: headMembers(declared.found),
    ...(declared.anchored && { anchored: { ...declared.anchored } }),
    ...(declared.damage.length > 0 && { damage: declared.damage.map(it => present({ ...it })) }),
    ...(declared.books && { books: present(brokenNames(declared.books)) }),
    ...(endCredentials && { credentials_ended: true }),
    reason: declared.reason,
    declared_at: declared.declared_at,
  };
  const jws = issuer.signJws({
    iss: issuer.base_url,
    iat: Math.floor(Date.parse(declared.declared_at) / 1000),
    ...facts,
  });
  const { saved = null, anchored = null, damage = null, books = null, found, reason, declared_at } = facts;
  const credentials_ended = endCredentials !== null;
  await database.transaction(async tx => {
    await endCredentials?.(tx, declared_at);
    insertRows(tx, 'log_break', [
      { saved, found, anchored, damage, books, credentials_ended, reason, declared_at, kid: issuer.kid, jws },
    ]);
    tx.write({ text: 'update log_head set halted = null where log_id = $1', values: [LOG_ID] });
  }, ENDING);
  return { ...facts, kid: issuer.kid, jws };
}

/** All damage that was ever declared, of all breaks together. */
export async function declaredDamage(database: Database): Promise<Damage[]> {
  const breaks = await database.query<{ damage: Damage[] }>({
    text: 'select damage from log_break where damage is not null',
  });
  return breaks.flatMap(({ damage }) =>
    damage.map(it => ({ ...it, computed: it.computed ?? null, stored: it.stored ?? null })),
  );
}

/** Time at which all credentials last ended, Unix milliseconds. Null if they never did. */
export async function credentialsEndedAtMs(database: Pick<Database, 'query'>): Promise<number | null> {
  const [row] = await database.query<{ ended_at_ms: number | null }>({
    name: 'credentials ended at',
    text: 'select floor(extract(epoch from max(declared_at)) * 1000)::int8 as ended_at_ms from log_break where credentials_ended',
  });
  return row?.ended_at_ms ?? null;
}

/** Time at which a lost entry was committed (ISO 8601). Null if unknown. */
type LostFrom = string | null;

/**
 * Whether a lost entry was committed after all credentials last ended: a rotation or revocation may have been lost with it. An entry from
 * before that time may be declared lost once more, for another DATA_DIR, without ending credentials again: owners have recovered since.
 */
export function isNewLoss(lost: readonly LostFrom[], ended_at_ms: number | null): boolean {
  return ended_at_ms === null || lost.some(at => at === null || Date.parse(at) > ended_at_ms);
}

function headMembers({ tree_size, root_hash }: TreeHeadFacts): { tree_size: number; root_hash: string } {
  return { tree_size, root_hash };
}

/** Every break that was ever declared, oldest first. */
export async function logBreaks(database: Database): Promise<JsonObject[]> {
  const breaks = await database.query<{ schema: string }>({
    name: 'log breaks',
    text: `select '${documents.log_break}' as schema, ${LOG_ID} as log_id, saved, found, anchored, damage, books,
        case when credentials_ended then true end as credentials_ended, reason,
        to_char(declared_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as declared_at, kid, jws
      from log_break order by break_id`,
  });
  return breaks.map(it => present(it));
}

/**
 * The signed head from which the log continues: the one to which the stored nodes add up. Null for an empty log.
 * @throws if the stored nodes and the signed head disagree. Such a log cannot be continued, whatever is declared.
 */
export async function headToContinue(database: Database, found: TreeHeadFacts): Promise<SignedTreeHead | null> {
  const { ends_with_head } = await storedHead(database);
  if (!ends_with_head) throw new Contradiction();
  if (found.tree_size === 0) return null;
  const root = await storedRoot(database, found.tree_size).catch(() => null);
  const head = await signedHead(database, found.tree_size);
  if (!head || root?.toString('hex') !== found.root_hash || head.root_hash !== found.root_hash) {
    throw new Contradiction();
  }
  return head;
}

class Contradiction extends Error {
  override name = 'Contradiction';

  constructor() {
    super('the log in the database contradicts itself: restore a database that does not');
  }
}
