import {
  growPeaks,
  inclusionNodes,
  inclusionRanges,
  type KeptNode,
  type NodeAddress,
  peaksOf,
} from '../log/merkle-tree.ts';
import { type SumNode, sumNode, sumRoot } from '../verify/sum-proof.ts';

/* The tree of a book's total as it is kept: pure, no storage. It grows at its end alone, in the shape of the log's own tree. */

export type KeptSum = KeptNode<SumNode>;

/** All that an append has to know: the roots of the perfect subtrees, largest first. */
export interface GrowingSum {
  readonly rows: number;
  readonly peaks: readonly SumNode[];
}

/** Adds one row; `kept` are the leaf and every parent that it completes, lowest first. */
export function appendSum({ rows, peaks }: GrowingSum, leaf: SumNode): { sums: GrowingSum; kept: readonly KeptSum[] } {
  const grown = growPeaks({ peaks, size: rows, leaf, join: sumNode });
  return { sums: { rows: rows + 1, peaks: grown.peaks }, kept: grown.kept };
}

type SumReader = (address: NodeAddress) => SumNode;

/** The nodes that `sumPath` will read. */
export const sumNodes = inclusionNodes;

/** The neighbours of a row on its way up, from the leaf's own on. */
export function sumPath(row: number, rows: number, read: SumReader): SumNode[] {
  return inclusionRanges(row, rows).map(({ from, to }) => sumRoot(peaksOf(from, to).map(read)));
}
