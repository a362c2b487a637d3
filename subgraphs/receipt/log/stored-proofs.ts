import type { Database } from '../../database.ts';
import type { Receipt } from '../receipt/receipt.entity.ts';
import { leafHash, rootOf, verifyInclusion } from '../verify/merkle-proof.ts';
import {
  consistencyNodes,
  consistencyPath,
  inclusionNodes,
  inclusionPath,
  type NodeAddress,
  type NodeReader,
  peaksOf,
} from './merkle-tree.ts';

/** Wherever the stored nodes are read. */
type Nodes = Pick<Database, 'query'>;

/** The proof that leaf `leaf_index` stands in the tree of `size` leaves; reads O(log size) rows. */
export async function inclusionProof(database: Nodes, leaf_index: number, size: number): Promise<Buffer[]> {
  const read = await readNodes(database, inclusionNodes(leaf_index, size));
  return inclusionPath(leaf_index, size, read);
}

/** The proof that the tree of `old_size` leaves is a prefix of the one of `size`; reads O(log size) rows. */
export async function consistencyProof(database: Nodes, old_size: number, size: number): Promise<Buffer[]> {
  const read = await readNodes(database, consistencyNodes(old_size, size));
  return consistencyPath(old_size, size, read);
}

/** The root of the first `size` leaves, computed again from stored nodes. @throws MissingNode. */
export async function storedRoot(database: Nodes, size: number): Promise<Buffer> {
  const peaks = peaksOf(0, size);
  const read = await readNodes(database, peaks);
  return rootOf(peaks.map(read));
}

/** A node that must stand in the log is not there. */
export class MissingNode extends Error {
  constructor(address: NodeAddress) {
    super(`the log holds no node ${address.index} on level ${address.level}`);
    this.name = 'MissingNode';
  }
}

/** In one statement; a node is asked for by whoever reads it. */
export async function readNodes(database: Nodes, addresses: readonly NodeAddress[]): Promise<NodeReader> {
  const rows = await database.query<{ level: number; index: number; hash: Buffer }>({
    name: 'read log nodes',
    text: 'select n.* from unnest($1::int2[], $2::int8[]) as wanted(level, index) join log_node n using (level, index)',
    values: [addresses.map(address => address.level), addresses.map(address => address.index)],
  });
  const known = new Map(rows.map(row => [`${row.level}/${row.index}`, row.hash]));
  return address => {
    const hash = known.get(`${address.level}/${address.index}`);
    if (hash === undefined) throw new MissingNode(address);
    return hash;
  };
}

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
