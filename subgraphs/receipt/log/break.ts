import type { JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { type Database, insertRows } from '../../database.ts';
import type { Issuer } from '../issuer/keys.ts';
import { LOG_ID, type SignedTreeHead, type TreeHeadFacts } from './head.ts';
import { storedRoot } from './proof.ts';

/** A break that the operator declares: what was signed, what is left, and why. Published, signed, never taken back. */
export interface LogBreak {
  readonly saved: TreeHeadFacts;
  readonly found: TreeHeadFacts;
  readonly reason: string;
  /** ISO 8601. */
  readonly declared_at: string;
}

/** Signs and keeps a declaration. */
export async function declareBreak(database: Database, issuer: Issuer, declared: LogBreak): Promise<JsonObject> {
  const facts = {
    schema: documents.log_break,
    log_id: LOG_ID,
    ...declared,
    saved: named(declared.saved),
    found: named(declared.found),
  };
  const jws = issuer.signJws({
    iss: issuer.base_url,
    iat: Math.floor(Date.parse(declared.declared_at) / 1000),
    ...facts,
  });
  const { saved, found, reason, declared_at } = facts;
  await database.transaction(tx =>
    insertRows(tx, 'log_break', [{ saved, found, reason, declared_at, kid: issuer.kid, jws }]),
  );
  return { ...facts, kid: issuer.kid, jws };
}

function named({ tree_size, root_hash }: TreeHeadFacts): { tree_size: number; root_hash: string } {
  return { tree_size, root_hash };
}

/** Every break that was ever declared, oldest first. */
export function logBreaks(database: Database): Promise<JsonObject[]> {
  return database.query<{ schema: string }>({
    name: 'log breaks',
    text: `select '${documents.log_break}' as schema, ${LOG_ID} as log_id, saved, found, reason,
        to_char(declared_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as declared_at, kid, jws
      from log_break order by break_id`,
  });
}

/**
 * The head to go on from: the one that the database's own nodes add up to, as it was signed. Null for an empty log.
 * @throws where they do not: such a log cannot be continued, whatever is declared.
 */
export async function headToContinue(database: Database, found: TreeHeadFacts): Promise<SignedTreeHead | null> {
  if (found.tree_size === 0) return null;
  const root = await storedRoot(database, found.tree_size);
  const [head] = await database.query<SignedTreeHead & { at: string }>({
    text: `select log_id, tree_size, root_hash, tree_head_hash, kid, jws, to_json(at) #>> '{}' as at from tree_head where tree_size = $1`,
    values: [found.tree_size],
  });
  if (!head || root.toString('hex') !== found.root_hash || head.root_hash !== found.root_hash) {
    throw new Error('the log in the database contradicts itself: restore a database that does not');
  }
  return head;
}
