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

/** Database or transaction from which the stored nodes are read. */
type Nodes = Pick<Database, 'query'>;

/** Proof that the tree of `old_size` leaves is a prefix of the tree of `size` leaves. Reads O(log size) rows. */
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

/** A node that must be in the log is missing. */
export class MissingNode extends Error {
  constructor(address: NodeAddress) {
    super(`the log holds no node ${address.index} on level ${address.level}`);
    this.name = 'MissingNode';
  }
}

/**
 * Reads nodes with one statement. Its result is one row, because a row per node costs the client more than finding the nodes costs
 * Postgres. A missing node is found only when the returned function is called for it. Nothing is cached between calls, because a proof must
 * show the log as it is stored now.
 */
export async function readNodes(database: Nodes, addresses: readonly NodeAddress[]): Promise<NodeReader> {
  const wanted = [...new Map(addresses.map(address => [nameOf(address), address])).values()];
  const rows = await database.query<{ hashes: string | null }>({
    name: 'read log nodes',
    text: `select string_agg(coalesce(encode(n.hash, 'hex'), ''), ',' order by wanted.at) as hashes
      from unnest($1::int2[], $2::int8[]) with ordinality as wanted(level, index, at) left join log_node n using (level, index)`,
    values: [wanted.map(address => address.level), wanted.map(address => address.index)],
  });
  const hashes = rows[0]?.hashes?.split(',') ?? [];
  const known = new Map(wanted.map((address, at) => [nameOf(address), hashes[at]]));
  return address => {
    const hash = known.get(nameOf(address));
    if (!hash) throw new MissingNode(address);
    return Buffer.from(hash, 'hex');
  };
}

const nameOf = ({ level, index }: NodeAddress) => `${level}/${index}`;

/** Proof that the first `size` leaves of the log contain a receipt (RFC 9162 §2.1.3). */
export interface Inclusion {
  readonly leaf: Buffer;
  readonly leaf_index: number;
  readonly size: number;
  readonly root: Buffer;
  /** Hashes from the leaf up to the root. */
  readonly path: readonly Buffer[];
}

/**
 * Proves that the log contains a receipt. Path and root come from one read of the log and share most of their nodes, so they agree even if
 * a shared node is not what was signed. The root is therefore also compared with `signed_root`.
 * @param signed_root root of a signed head of that size in hex; null if there is none
 * @throws if the stored nodes do not prove it, so that no client receives such a proof.
 */
export async function inclusionOf(
  database: Nodes,
  receipt: Pick<Receipt, 'taskId' | 'leafIndex' | 'payload'>,
  size: number,
  signed_root: string | null,
): Promise<Inclusion> {
  const { leafIndex: leaf_index, payload } = receipt;
  const peaks = peaksOf(0, size);
  const read = await readNodes(database, [...inclusionNodes(leaf_index, size), ...peaks]);
  const path = inclusionPath(leaf_index, size, read);
  const root = rootOf(peaks.map(read));
  const inclusion = { leaf: leafHash(payload), leaf_index, size, root };
  const as_signed = signed_root === null || root.toString('hex') === signed_root;
  if (!as_signed || !verifyInclusion(inclusion, path))
    throw new Error(`the log does not prove that it holds ${receipt.taskId}`);
  return { ...inclusion, path };
}
