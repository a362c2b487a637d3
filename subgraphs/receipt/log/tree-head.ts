import { canonicalHash } from '../../../schema/canonical-json.ts';

/** Number of the only log. It is signed with every head, so that a second log could never be presented as the first. */
export const LOG_ID = 1;

export interface TreeHeadFacts {
  readonly log_id: number;
  readonly tree_size: number;
  /** Root of the tree, in lower-case hex. */
  readonly root_hash: string;
}

export interface SignedTreeHead extends TreeHeadFacts {
  readonly tree_head_hash: string;
  readonly kid: string;
  readonly jws: string;
  readonly at: string;
}

/** Size and root of a head, by which it is named where two are compared: in a halt, a break or a log line. */
export type HeadName = Pick<TreeHeadFacts, 'tree_size' | 'root_hash'>;

export function headName({ tree_size, root_hash }: HeadName): HeadName {
  return { tree_size, root_hash };
}

export function isSameHead(one: HeadName, other: HeadName): boolean {
  return one.tree_size === other.tree_size && one.root_hash === other.root_hash;
}

/** Whether two heads have the same size and another root. This alone proves that the log has forked. */
export function isFork(one: HeadName, other: HeadName): boolean {
  return one.tree_size === other.tree_size && one.root_hash !== other.root_hash;
}

/** SHA-256 of the canonical JSON of {log_id, tree_size, root_hash}. Receipts and signed heads both sign it. */
export function treeHeadHash(head: TreeHeadFacts): string {
  return canonicalHash({ log_id: head.log_id, tree_size: head.tree_size, root_hash: head.root_hash });
}
