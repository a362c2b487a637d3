import type { JsonObject } from '../../../schema/canonical-json.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { TreeHead } from './log.entity.ts';
import type { HeadName, SignedTreeHead } from './tree-head.ts';

/** The signed head of `tree_size` leaves; null if no batch ended there. */
export async function signedHead(database: Database, tree_size: number): Promise<SignedTreeHead | null> {
  const [head] = await database.query<SignedTreeHead & { at: string }>({
    name: 'signed head',
    text: `select log_id, tree_size, root_hash, tree_head_hash, kid, jws, to_json(at) #>> '{}' as at from tree_head where tree_size = $1`,
    values: [tree_size],
  });
  return head ?? null;
}

/**
 * The first signed head that contains a receipt; null if the receipt is among the log's first `leaves` leaves.
 * @throws if no head contains the receipt
 */
export async function signedHeadAbove(
  database: Database,
  task_id: string,
  leaves: number,
): Promise<SignedTreeHead | null> {
  const [found] = await database.query<{ leaf_size: number; tree_size: number | null }>({
    name: 'head above a receipt',
    text: `select r.tree_size as leaf_size,
        (select min(h.tree_size) from tree_head h where h.tree_size >= r.tree_size) as tree_size
      from receipt r where r.task_id = $1`,
    values: [task_id],
  });
  if (found && found.leaf_size <= leaves) return null;
  const head = found?.tree_size ? await signedHead(database, found.tree_size) : null;
  if (head === null) throw new Error(`${task_id} stands under no head`);
  return head;
}

/** Newest signed tree head. Null while the log is empty. */
export async function newestHead(database: Database): Promise<TreeHead | null> {
  const rows = await database.query({
    name: 'newest tree head',
    text: `select ${selectList(TreeHead)} from tree_head order by tree_size desc limit 1`,
  });
  return rows[0] ? asEntity(TreeHead, rows[0]) : null;
}

/** Current size and root of the log, with the member names of its documents. */
export async function logStands(database: Database): Promise<HeadName & JsonObject> {
  const rows = await database.query<{ tree_size: number; root_hash: Buffer }>({
    name: 'health',
    text: 'select tree_size, root_hash from log_head',
  });
  return { tree_size: rows[0]?.tree_size ?? 0, root_hash: rows[0]?.root_hash.toString('hex') ?? '' };
}
