import type { HeadName } from './tree-head.ts';

/** What a head that was found says of those that are known to have been signed. */
export type Judgement<H extends HeadName> =
  /** The newest that is known, and no older one is left to be proven: nothing need be asked. */
  | { readonly kind: 'known' }
  /** It may extend them; for each of these a consistency proof has to say so (RFC 9162 §2.1.4). */
  | { readonly kind: 'unproven'; readonly older: readonly H[] }
  /** The last of those that cannot be prefixes of it: longer, or as long and another. */
  | { readonly kind: 'contradicted'; readonly known: H };

/** Pure: whatever was signed must be a prefix of what is found, and two of the same size are the same. */
export function judge<H extends HeadName>(known: readonly H[], found: HeadName): Judgement<H> {
  const contradicted = known.findLast(head => head.tree_size > found.tree_size || isOther(head, found));
  if (contradicted) return { kind: 'contradicted', known: contradicted };
  const older = known.filter(head => head.tree_size < found.tree_size);
  return older.length === 0 ? { kind: 'known' } : { kind: 'unproven', older };
}

/** The same size with another root: proof by itself that the log has forked. */
export function isOther(one: HeadName, other: HeadName): boolean {
  return one.tree_size === other.tree_size && one.root_hash !== other.root_hash;
}
