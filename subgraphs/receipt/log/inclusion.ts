import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import type { Receipt } from '../receipt/receipt.entity.ts';
import { TreeHead } from './log.entity.ts';
import { leafHash } from './merkle.ts';
import { verifyInclusion } from './merkle-proof.ts';
import { inclusionProof, storedRoot } from './proof.ts';

/** That a receipt stands in the log's first `size` leaves (RFC 9162 §2.1.3). */
export interface Inclusion {
  readonly leaf: Buffer;
  readonly leaf_index: number;
  readonly size: number;
  readonly root: Buffer;
  /** From the leaf up. */
  readonly path: readonly Buffer[];
}

/** @throws where the stored nodes do not prove it: what is wrong is said here, and not found out by whoever asked. */
export async function inclusionOf(
  database: Database,
  receipt: Pick<Receipt, 'taskId' | 'leafIndex' | 'payload'>,
  size: number,
): Promise<Inclusion> {
  const leaf = leafHash(receipt.payload);
  const path = await inclusionProof(database, receipt.leafIndex, size);
  const root = await storedRoot(database, size);
  const inclusion = { leaf, leaf_index: receipt.leafIndex, size, root };
  if (!verifyInclusion(inclusion, path)) throw new Error(`the log does not prove that it holds ${receipt.taskId}`);
  return { ...inclusion, path };
}

/** The newest signed head; null while the log is empty. */
export async function newestHead(database: Database): Promise<TreeHead | null> {
  const rows = await database.query({
    name: 'newest tree head',
    text: `select ${selectList(database.orm, TreeHead)} from tree_head order by tree_size desc limit 1`,
  });
  return rows[0] ? asEntity(TreeHead, rows[0]) : null;
}
