import type { Database } from '../../database.ts';
import { leafHash, nodeHash } from '../verify/merkle-proof.ts';
import { declaredDamage } from './break.ts';
import { type Frontier, type NodeAddress, peaksOf } from './merkle-tree.ts';

/**
 * A place at which the stored log is not what its receipts make of it: level 0 is a leaf, and its index the receipt's.
 * Hashes are lower-case hex; null: there is nothing.
 */
export interface Damage extends NodeAddress {
  /** What the node must be: a leaf by its receipt, any other by its two children as they are stored. */
  readonly computed: string | null;
  readonly stored: string | null;
}

/** The stored hash of a node; null where it is missing. */
type StoredNode = (address: NodeAddress) => Buffer | null;

interface Audited {
  /** Of the tree that ends with the last of these leaves; what the next range begins with. */
  readonly frontier: Frontier;
  readonly damage: readonly Damage[];
}

/**
 * Computes a range of the tree again, from leaf `from` on: each leaf from its receipt (null where that is missing), and
 * every node that is complete with it, and compares them with what is stored. At most two hashes per leaf, whatever the
 * size of the log (RFC 6962 §2.1; the frontier is a compact range). Where both differ it goes on with what is stored,
 * since that is what was signed: so one damaged place is named as it is and does not make all above it look damaged.
 */
export function auditLeaves(
  frontier: Frontier,
  from: number,
  leaves: readonly (Buffer | null)[],
  storedAt: StoredNode,
): Audited {
  const peaks = [...frontier];
  const damage: Damage[] = [];
  const compared = (address: NodeAddress, computed: Buffer | null): Buffer => {
    const stored = storedAt(address);
    if (computed === null || stored === null || !computed.equals(stored))
      damage.push({ ...address, computed: hex(computed), stored: hex(stored) });
    return stored ?? computed ?? NOTHING;
  };
  leaves.forEach((leaf, place) => {
    let index = from + place;
    let hash = compared({ level: 0, index }, leaf);
    for (let level = 1; index % 2 === 1; level++) {
      const left = peaks.pop();
      if (left === undefined) throw new RangeError(`the frontier does not belong to a tree of ${from} leaves`);
      index = (index - 1) / 2;
      hash = compared({ level, index }, nodeHash(left, hash));
    }
    peaks.push(hash);
  });
  return { frontier: peaks, damage };
}

/** Indexes of the nodes of one level that are complete with one of the leaves `from` up to `to`. */
interface LevelRange {
  readonly level: number;
  readonly from: number;
  readonly to: number;
}

/** The stored nodes that `auditLeaves` will compare. */
export function nodesCompleted(from: number, to: number): LevelRange[] {
  const ranges: LevelRange[] = [];
  for (let level = 0, width = 1; width <= to; level++, width *= 2) {
    const range = { level, from: Math.floor(from / width), to: Math.floor(to / width) };
    if (range.from < range.to) ranges.push(range);
  }
  return ranges;
}

/** Stands for a leaf of which neither receipt nor node is left: no SHA-256 of anything that is known. */
const NOTHING = Buffer.alloc(32);

function hex(hash: Buffer | null): string | null {
  return hash?.toString('hex') ?? null;
}

/** A page is hashed in one go: it must not keep others from the event loop for long. */
const PAGE_LEAVES = 500;

/** Damage that nobody has declared, found in one page of the log. */
interface AuditedPage {
  /** The first leaf after the page. */
  readonly to: number;
  readonly damage: readonly Damage[];
}

/**
 * Computes leaves `from` up to `to` of the stored log again from the stored receipts, page by page, and names what
 * disagrees and was not declared before (see break.ts). Reads one page at a time; the reader sets the pace.
 */
export async function* auditStored(database: Database, from: number, to: number): AsyncGenerator<AuditedPage> {
  const declared = new Set((await declaredDamage(database)).map(nameOf));
  let frontier = await peaksAt(database, from);
  // What a missing peak would have to be is known only from the leaves below it.
  let start = frontier === null ? 0 : from;
  frontier ??= [];
  while (start < to) {
    const end = Math.min(start + PAGE_LEAVES, to);
    const [leaves, storedAt] = await Promise.all([readLeaves(database, start, end), readNodes(database, start, end)]);
    const audited = auditLeaves(frontier, start, leaves, storedAt);
    yield { to: end, damage: audited.damage.filter(it => !declared.has(nameOf(it))) };
    [frontier, start] = [audited.frontier, end];
  }
}

function nameOf({ level, index, computed, stored }: Damage): string {
  return `${level}/${index}/${computed}/${stored}`;
}

/** The peaks before a leaf, as they are stored: what is wrong with them shows when the leaves below are audited. */
async function peaksAt(database: Database, size: number): Promise<Frontier | null> {
  const peaks = peaksOf(0, size);
  const ranges = peaks.map(({ level, index }) => ({ level, from: index, to: index + 1 }));
  const storedAt = await readRanges(database, ranges);
  const frontier = peaks.flatMap(peak => storedAt(peak) ?? []);
  return frontier.length === peaks.length ? frontier : null;
}

/** Leaf hashes by the stored receipts; null where one is missing. */
async function readLeaves(database: Database, from: number, to: number): Promise<(Buffer | null)[]> {
  const rows = await database.query<{ leaf_index: number; payload: string }>({
    name: 'audit leaves',
    text: 'select leaf_index, payload from receipt where leaf_index >= $1 and leaf_index < $2',
    values: [from, to],
  });
  const leaves: (Buffer | null)[] = Array.from({ length: to - from }, () => null);
  for (const { leaf_index, payload } of rows) leaves[leaf_index - from] = leafHash(payload);
  return leaves;
}

function readNodes(database: Database, from: number, to: number): Promise<StoredNode> {
  return readRanges(database, nodesCompleted(from, to));
}

async function readRanges(database: Database, ranges: readonly LevelRange[]): Promise<StoredNode> {
  const rows = await database.query<NodeAddress & { hash: Buffer }>({
    name: 'audit nodes',
    text: `select n.level, n.index, n.hash from unnest($1::int2[], $2::int8[], $3::int8[]) as wanted(level, first, beyond)
      join log_node n on n.level = wanted.level and n.index >= wanted.first and n.index < wanted.beyond`,
    values: [ranges.map(({ level }) => level), ranges.map(({ from }) => from), ranges.map(({ to }) => to)],
  });
  const known = new Map(rows.map(({ level, index, hash }) => [`${level}/${index}`, hash]));
  return ({ level, index }) => known.get(`${level}/${index}`) ?? null;
}
