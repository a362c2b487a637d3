import type { AtomicAmount } from '../../../schema/amount.ts';
import { type Database, insertRows } from '../../database.ts';
import type { Tx } from '../../transaction.ts';
import {
  growPeaks,
  inclusionNodes,
  inclusionRanges,
  type KeptNode,
  type NodeAddress,
  peaksOf,
} from '../log/merkle-tree.ts';
import type { RailSum } from '../verify/map-proof.ts';
import { EMPTY_SUM, type SumNode, sumLeaf, sumNode, sumRoot } from '../verify/sum-proof.ts';
import type { CollectedLeaf } from './collected-leaves.ts';
import { requireSum, TotalsAltered } from './stored-check.ts';

/* Reads and grows the totals of books. There is one stored sum tree for each book and rail. */

type Queryable = Pick<Database, 'query'>;

/** The totals of these books: one for each rail on which a book has collected something. */
export async function railTotals(
  reads: Queryable,
  agent_ids: readonly number[],
): Promise<(RailSum & { agent_id: number })[]> {
  const found = await reads.query<{ agent_id: number; rail: string; rows: number; total: bigint; root: string }>({
    name: 'totals of books',
    text: 'select agent_id, rail, rows, total, root from totals_book where agent_id = any($1) order by agent_id, rail',
    values: [agent_ids],
  });
  return found.map(({ total, ...book }) => ({ ...book, total: total.toString() }));
}

/** Reads nodes of one or more sum trees. The returned function throws TotalsAltered if the node is missing. */
export async function sumNodesAt(
  reads: Queryable,
  wanted: readonly { readonly agent_id: number; readonly rail: string; readonly at: NodeAddress }[],
): Promise<(tree: { agent_id: number; rail: string }, at: NodeAddress) => SumNode> {
  const found = await reads.query<StoredSum>({
    name: 'nodes of totals',
    text: `select n.* from unnest($1::int[], $2::text[], $3::int2[], $4::int8[]) as wanted(agent_id, rail, level, index)
      join totals_node n using (agent_id, rail, level, index)`,
    values: [
      wanted.map(({ agent_id }) => agent_id),
      wanted.map(({ rail }) => rail),
      wanted.map(({ at }) => at.level),
      wanted.map(({ at }) => at.index),
    ],
  });
  const nodes = new Map(found.map(({ sum, hash, ...node }) => [nameOf(node, node), { sum, hash }]));
  return (tree, at) => {
    const node = nodes.get(nameOf(tree, at));
    if (!node)
      throw new TotalsAltered(`the total of book ${tree.agent_id} has no node ${at.index} on level ${at.level}`);
    return node;
  };
}

interface StoredSum extends NodeAddress {
  readonly agent_id: number;
  readonly rail: string;
  readonly sum: AtomicAmount;
  readonly hash: Buffer;
  readonly [column: string]: unknown;
}

const nameOf = ({ agent_id, rail }: { agent_id: number; rail: string }, { level, index }: NodeAddress) =>
  `${agent_id} ${level}/${index} ${rail}`;

/** The growth of the sum tree of one book and rail. */
interface SumGrowth {
  readonly total: RailSum & { readonly agent_id: number };
  /** Total before the growth. Null if the tree had no rows. */
  readonly before: RailSum | null;
  /** Index of each new row in the tree, by the id of its task. */
  readonly places: ReadonlyMap<string, number>;
  readonly kept: readonly KeptSum[];
}

/** Appends rows to the trees of their books, in their order, without writing them. @throws TotalsAltered if a stored total is wrong */
export async function growSums(reads: Queryable, collected: readonly CollectedLeaf[]): Promise<readonly SumGrowth[]> {
  const landed = collected.filter(({ agent_id }) => agent_id !== null);
  const trees = Map.groupBy(landed, ({ agent_id, rail }) => `${agent_id} ${rail}`);
  const before = await railTotals(reads, [...new Set(landed.map(({ agent_id }) => agent_id ?? 0))]);
  const known = new Map(before.map(book => [`${book.agent_id} ${book.rail}`, book]));
  const peaks = before.flatMap(({ agent_id, rail, rows }) => peaksOf(0, rows).map(at => ({ agent_id, rail, at })));
  const read = await sumNodesAt(reads, peaks);
  return [...trees].map(([name, rows]) => {
    const [{ agent_id, rail }] = rows as [CollectedLeaf & { agent_id: number }];
    const { agent_id: _, ...book } = known.get(name) ?? { agent_id, ...noTotal(rail) };
    let sums: GrowingSum = { rows: book.rows, peaks: peaksOf(0, book.rows).map(at => read({ agent_id, rail }, at)) };
    requireSum(agent_id, book, sums.peaks);
    const places = new Map<string, number>();
    const kept: KeptSum[] = [];
    for (const { task_id, leaf_index, payload_hash, amount } of rows) {
      const row = sums.rows;
      const appended = appendSum(sums, sumLeaf({ agent_id, rail, row, leaf_index, payload_hash, amount }));
      places.set(task_id, row);
      kept.push(...appended.kept);
      sums = appended.sums;
    }
    const root = sumRoot(sums.peaks);
    return {
      total: { agent_id, rail, rows: sums.rows, ...shown(root) },
      before: known.has(name) ? book : null,
      places,
      kept,
    };
  });
}

/** Writes nodes and totals. */
export function storeSums(tx: Tx, grown: readonly SumGrowth[]): void {
  const nodes = grown.flatMap(({ total: { agent_id, rail }, kept }) =>
    kept.map(node => ({ agent_id, rail, ...recordOf(node) })),
  );
  insertRows(tx, 'totals_node', nodes);
  storeTotals(
    tx,
    grown.map(({ total }) => total),
  );
}

const recordOf = ({ level, index, node }: KeptSum) => ({
  level,
  index,
  sum: node.sum.toString(),
  hash: `\\x${node.hash.toString('hex')}`,
});

const shown = ({ sum, hash }: SumNode) => ({ total: sum.toString(), root: hash.toString('hex') });

/** Total of a book that has collected nothing on that rail. */
export const noTotal = (rail: string): RailSum => ({ rail, rows: 0, ...shown(EMPTY_SUM) });

function storeTotals(tx: Tx, totals: readonly RailSum[]): void {
  if (totals.length === 0) return;
  tx.write({
    name: 'store totals',
    text: `insert into totals_book (agent_id, rail, rows, total, root)
      select agent_id, rail, rows, total, root from jsonb_populate_recordset(null::totals_book, $1::jsonb)
      on conflict (agent_id, rail) do update set rows = excluded.rows, total = excluded.total, root = excluded.root`,
    values: [JSON.stringify(totals)],
  });
}

/** A stored node of a sum tree. The tree grows only at its end, and has the same shape as the log's own tree. */
type KeptSum = KeptNode<SumNode>;

/** Everything that an append needs: the number of rows, and the roots of the perfect subtrees, largest first. */
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

/** Addresses of the nodes that `sumPath` reads. */
export const sumNodes = inclusionNodes;

/** The path of a row in its sum tree: the siblings from the leaf up. */
export function sumPath(row: number, rows: number, read: SumReader): SumNode[] {
  return inclusionRanges(row, rows).map(({ from, to }) => sumRoot(peaksOf(from, to).map(read)));
}
