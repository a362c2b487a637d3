import { expect, it } from 'vitest';
import { GrowingTree } from '../../../../subgraphs/receipt/verify/growing-tree.ts';
import { rootOf } from '../../../harness/log/follower.ts';
import { leafOf } from '../../../harness/log/note.ts';
import { TestLog } from '../../../harness/log/test-log.ts';
import { leaves as reference, roots } from '../../../harness/vectors/rfc6962.ts';

it('a growing tree has the roots of the reference tree of Certificate Transparency', () => {
  const tree = new GrowingTree();
  expect(tree.root.toString('hex')).toBe(roots[0]);
  for (const [at, leaf] of reference.entries()) {
    tree.add(Buffer.from(leafOf(Buffer.from(leaf, 'hex'))));
    expect(tree.root.toString('hex')).toBe(roots[at + 1]);
  }
});

it('a growing tree names each perfect subtree once, at every size, and a copy goes its own way', () => {
  const { leaves } = new TestLog('log').grow(70);
  const tree = new GrowingTree();
  for (const [at, leaf] of leaves.entries()) {
    for (const { height, index, hash } of tree.add(leaf))
      expect(hash).toEqual(rootOf(leaves.slice(index * 2 ** height, (index + 1) * 2 ** height)));
    expect([tree.size, tree.root]).toEqual([at + 1, rootOf(leaves.slice(0, at + 1))]);
    const copy = tree.copy();
    copy.add(leaf);
    expect(tree.size).toBe(at + 1);
  }
});
