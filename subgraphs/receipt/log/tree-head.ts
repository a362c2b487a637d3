import { canonicalHash } from '../../../schema/canonical-json.ts';

/** There is one log; its number is signed with every head, so that a second could never be passed off as the first. */
export const LOG_ID = 1;

export interface TreeHeadFacts {
  readonly log_id: number;
  readonly tree_size: number;
  /** Lower-case hex. */
  readonly root_hash: string;
}

export interface SignedTreeHead extends TreeHeadFacts {
  readonly tree_head_hash: string;
  readonly kid: string;
  readonly jws: string;
  readonly at: string;
}

/** What a head is called where two are compared: in a halt, a break, a line of the log. */
export type HeadName = Pick<TreeHeadFacts, 'tree_size' | 'root_hash'>;

export function headName({ tree_size, root_hash }: HeadName): HeadName {
  return { tree_size, root_hash };
}

export function isSameHead(one: HeadName, other: HeadName): boolean {
  return one.tree_size === other.tree_size && one.root_hash === other.root_hash;
}

/** The same size with another root: this alone proves that the log has forked. */
export function isFork(one: HeadName, other: HeadName): boolean {
  return one.tree_size === other.tree_size && one.root_hash !== other.root_hash;
}

/** SHA-256 of the canonical {log_id, tree_size, root_hash}: what receipts and signed heads both sign. */
export function treeHeadHash(head: TreeHeadFacts): string {
  return canonicalHash({ log_id: head.log_id, tree_size: head.tree_size, root_hash: head.root_hash });
}
