import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { type Database, insertRows } from '../../database.ts';
import type { Issuer } from '../issuer/signing-keys.ts';
import type { DeclaredAnchor } from './anchored-head.ts';
import type { Damage } from './audit.ts';
import { storedHead } from './prove-intact.ts';
import { signedHead } from './signed-heads.ts';
import { storedRoot } from './stored-proofs.ts';
import { LOG_ID, type SignedTreeHead, type TreeHeadFacts } from './tree-head.ts';

/** A break that the operator declares: what was signed, what is left, and why. Published, signed, never taken back. */
export interface LogBreak {
  /** Null where the head outside the database was lost: then nobody can say what was signed. */
  readonly saved: TreeHeadFacts | null;
  readonly found: TreeHeadFacts;
  /** The newest that stands on Base; left out where none does, or none could be had: then it binds as before. */
  readonly anchored?: DeclaredAnchor | null;
  /** The places that disagree with their receipts, hash by hash. From now on these, and no others, are passed over. */
  readonly damage: readonly Damage[];
  readonly reason: string;
  /** ISO 8601. */
  readonly declared_at: string;
}

/** Signs and keeps a declaration, and ends a halt: from here on the log is the one that is declared to be left. */
export async function declareBreak(database: Database, issuer: Issuer, declared: LogBreak): Promise<JsonObject> {
  const facts = {
    schema: documents.log_break,
    log_id: LOG_ID,
    ...(declared.saved && { saved: named(declared.saved) }),
    found: named(declared.found),
    ...(declared.anchored && { anchored: { ...declared.anchored } }),
    ...(declared.damage.length > 0 && { damage: declared.damage.map(it => present({ ...it })) }),
    reason: declared.reason,
    declared_at: declared.declared_at,
  };
  const jws = issuer.signJws({
    iss: issuer.base_url,
    iat: Math.floor(Date.parse(declared.declared_at) / 1000),
    ...facts,
  });
  const { saved = null, anchored = null, damage = null, found, reason, declared_at } = facts;
  await database.transaction(async tx => {
    insertRows(tx, 'log_break', [{ saved, found, anchored, damage, reason, declared_at, kid: issuer.kid, jws }]);
    tx.write({ text: 'update log_head set halted = null where log_id = $1', values: [LOG_ID] });
  });
  return { ...facts, kid: issuer.kid, jws };
}

/** All damage that was ever declared. */
export async function declaredDamage(database: Database): Promise<Damage[]> {
  const breaks = await database.query<{ damage: Damage[] }>({
    text: 'select damage from log_break where damage is not null',
  });
  return breaks.flatMap(({ damage }) =>
    damage.map(it => ({ ...it, computed: it.computed ?? null, stored: it.stored ?? null })),
  );
}

function named({ tree_size, root_hash }: TreeHeadFacts): { tree_size: number; root_hash: string } {
  return { tree_size, root_hash };
}

/** Every break that was ever declared, oldest first. */
export async function logBreaks(database: Database): Promise<JsonObject[]> {
  const breaks = await database.query<{ schema: string }>({
    name: 'log breaks',
    text: `select '${documents.log_break}' as schema, ${LOG_ID} as log_id, saved, found, anchored, damage, reason,
        to_char(declared_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as declared_at, kid, jws
      from log_break order by break_id`,
  });
  return breaks.map(it => present(it));
}

/**
 * The head to go on from: the one that the database's own nodes add up to, as it was signed. Null for an empty log.
 * @throws where they do not: such a log cannot be continued, whatever is declared.
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
