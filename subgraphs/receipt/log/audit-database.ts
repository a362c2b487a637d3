import type { Database } from '../../database.ts';
import { leafHash } from '../verify/merkle-proof.ts';
import { auditLeaves, type Damage, type LevelRange, nodesCompleted, type StoredNode } from './audit.ts';
import { declaredDamage } from './break.ts';
import { type Frontier, type NodeAddress, peaksOf } from './merkle-tree.ts';

/** Number of leaves of a page. A page is hashed without interruption, so it must not block the event loop for long. */
const PAGE_LEAVES = 500;

/** Undeclared damage in one page of the log. */
export interface AuditedPage {
  /** Index of the first leaf after the page. */
  readonly to: number;
  readonly damage: readonly Damage[];
}

/**
 * Computes leaves `from` up to but not including `to` again from the stored receipts, page by page, and returns the damage that was not
 * declared before (see break.ts). The next page is read only when the caller requests it.
 */
export async function* auditStored(database: Database, from: number, to: number): AsyncGenerator<AuditedPage> {
  const declared = new Set((await declaredDamage(database)).map(nameOf));
  let frontier = await peaksAt(database, from);
  // A missing peak can be computed only from the leaves below it, so the audit then begins with the first leaf.
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

/**
 * Stored peaks of the first `size` leaves; null if one is missing. They are not checked here: a wrong one is found when the leaves below it
 * are audited.
 */
async function peaksAt(database: Database, size: number): Promise<Frontier | null> {
  const peaks = peaksOf(0, size);
  const ranges = peaks.map(({ level, index }) => ({ level, from: index, to: index + 1 }));
  const storedAt = await readRanges(database, ranges);
  const frontier = peaks.flatMap(peak => storedAt(peak) ?? []);
  return frontier.length === peaks.length ? frontier : null;
}

/** Leaf hashes computed from the stored receipts. Null in place of a missing receipt. */
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
