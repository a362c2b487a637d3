import { receiptsByTask } from '../receipt/find.ts';
import { type CheckpointParts, checkpoint } from './checkpoint.ts';
import { type Inclusion, inclusionOf } from './stored-proofs.ts';

const HEADER = 'c2sp.org/tlog-proof@v1';

/**
 * That a receipt stands in the log, as one text to be kept beside it (https://c2sp.org/tlog-proof): its place, the path
 * from its leaf up, and the newest checkpoint that witnesses have cosigned and that holds it, or else the newest.
 */
export async function tlogProof(
  parts: CheckpointParts,
  task_id: string,
): Promise<{ readonly kind: 'proven'; readonly text: string } | { readonly kind: 'unknown' | 'halted' }> {
  const { database } = parts;
  const [receipt] = await receiptsByTask(database, [task_id]);
  if (!receipt) return { kind: 'unknown' };
  // Read after the receipt, so it ends behind it.
  const newest = await checkpoint(parts, { leaf_index: receipt.leafIndex });
  if (newest.kind !== 'known') return newest;
  const { tree_size, root_hash } = newest.head;
  const inclusion = await inclusionOf(database, receipt, tree_size, root_hash);
  return { kind: 'proven', text: proofText(inclusion, newest.note) };
}

/** @param note the checkpoint under which the path leads to the root */
export function proofText({ leaf_index, path }: Pick<Inclusion, 'leaf_index' | 'path'>, note: string): string {
  return [HEADER, `index ${leaf_index}`, ...path.map(hash => hash.toString('base64')), '', note].join('\n');
}
