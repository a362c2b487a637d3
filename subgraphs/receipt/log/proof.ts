import type { Database } from '../../database.ts';
import { type NodeAddress, peaksOf, rootOf } from './merkle.ts';
import { consistencyNodes, consistencyPath, inclusionNodes, inclusionPath, type NodeReader } from './merkle-proof.ts';

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
