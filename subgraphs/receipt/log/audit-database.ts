import type { Database } from '../../database.ts';
import { leafHash } from '../verify/merkle-proof.ts';
import { auditLeaves, type Damage, type LevelRange, nodesCompleted, type StoredNode } from './audit.ts';
import { declaredDamage } from './break.ts';
import { type Frontier, type NodeAddress, peaksOf } from './merkle-tree.ts';

/** A page is hashed in one go: it must not keep others from the event loop for long. */
const PAGE_LEAVES = 500;

/** Undeclared damage in one page of the log. */
export interface AuditedPage {
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

/** Leaf hashes by the stored receipts; null if one is missing. */
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
