import type { RowColumn } from '../../../schema/book-row.ts';
import { camel } from '../../../schema/camel.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { lineageLimits } from '../../../schema/limits.ts';
import type { LineagePage } from '../../../schema/requests/book.ts';
import { pageRows } from '../../../schema/requests/book.ts';
import type { Database } from '../../database.ts';
import type { Lineage, LineageRow } from './lineage.type.ts';
import { parentRefOf } from './parent.ts';

const shown = [
  ...(['task_id', 'seq', 'parent_ref', 'evidence', 'collected', 'collected_at', 'amount', 'rail'] as const),
  ...(['payment_ref', 'model', 'hub', 'intent_id', 'attempt_index'] as const),
] satisfies RowColumn[];
const of = (table: string) =>
  shown.map(name => (name === 'parent_ref' ? `${parentRefOf(table)} as parent_ref` : `${table}.${name}`)).join(', ');
const named = (table: string) => shown.map(name => `${table}.${name}`).join(', ');

const { steps_max, descendants_max } = lineageLimits;

/**
 * One recursive query along indexes, whose cost depends on the lineage and not on the size of the book. A child always comes after
 * its parent, so both directions end. Each generation of children is limited in the order of the book, so that the ancestors of the
 * first rows are always among the first rows.
 */
export const LINEAGE = `with recursive
  up as (
    select ${of('r')}, 0 as depth from book_row r where agent_id = $1 and task_id = $2
    union all
    select ${named('p')}, u.depth + 1 from up u cross join lateral (
      select ${of('r')} from book_row r where agent_id = $1 and task_id = u.parent_ref and seq < u.seq limit 1) p
    where u.depth < ${steps_max}),
  down as (
    select * from up where depth = 0
    union all
    select * from (
      select ${named('c')}, d.depth + 1 as depth from down d cross join lateral (
        select ${of('r')} from book_row r where agent_id = $1 and r.parent_ref = d.task_id and seq > d.seq
        order by seq limit ${descendants_max + 1}) c
      where d.depth <= ${steps_max} order by c.seq limit ${descendants_max + 1}) wave),
  page as (select * from down where depth between 1 and ${steps_max} order by seq limit ${descendants_max})
  select way, depth, ${shown.map(name => `${name} as "${camel(name)}"`).join(', ')},
    (select count(*) > ${descendants_max} or coalesce(max(depth) > ${steps_max}, false) from down where depth > 0) as more
  from (
    select 'up' as way, up.* from up
    union all
    (select 'down', page.* from page where seq > $3 order by seq limit $4)) lineage order by way desc, depth, seq`;

interface LineageRead extends Omit<LineageRow, 'seq' | 'onOtherBook'> {
  readonly seq: number;
  readonly way: 'up' | 'down';
  /** True if there are more descendants than the lineage includes. */
  readonly more: boolean;
}

/** Reads the lineage of a row. Null if the book has no row of this task. */
export async function readLineage(
  database: Database,
  agent_id: AgentId,
  task_id: string,
  { after = 0, ...page }: LineagePage,
): Promise<Lineage | null> {
  const limit = pageRows(page.limit);
  const found = await database.query<LineageRead & Record<string, unknown>>({
    name: 'lineage',
    text: LINEAGE,
    values: [agent_id, task_id, after, limit + 1],
  });
  const [self, ...ancestors] = found.filter(({ way }) => way === 'up');
  if (!self) return null;
  const below = found.filter(({ way }) => way === 'down').toSorted((a, b) => a.seq - b.seq);
  const descendants = below.slice(0, limit);
  const farthest = ancestors.at(-1) ?? self;
  const root = farthest.parentRef === null ? farthest : null;
  const elsewhere = await parentElsewhere(database, agent_id, farthest);
  return {
    agentId: agent_id,
    self: onThisBook(self),
    root: root && onThisBook(root),
    ancestors: [...ancestors.map(onThisBook), ...elsewhere],
    descendants: descendants.map(onThisBook),
    truncated: (root === null && elsewhere.length === 0) || self.more,
    next: below.length > limit ? (descendants.at(-1)?.seq ?? null) : null,
  };
}

const onThisBook = (row: LineageRead): LineageRow => ({ ...row, onOtherBook: false });

/**
 * Parent of the farthest ancestor, if it is not on this book. Only its task id is returned, and whether another book has a row of
 * it.
 */
async function parentElsewhere(
  database: Database,
  agent_id: AgentId,
  { parentRef, depth }: LineageRead,
): Promise<readonly LineageRow[]> {
  // Ancestors beyond the maximum number of steps were not searched.
  if (parentRef === null || depth >= steps_max) return [];
  const others = await database.query({
    name: 'row on another book',
    text: 'select from book_row where task_id = $2 and agent_id <> $1 limit 1',
    values: [agent_id, parentRef],
  });
  return [{ ...nothingTold, taskId: parentRef, depth: depth + 1, onOtherBook: others.length > 0 }];
}

const nothingTold = {
  seq: null,
  parentRef: null,
  evidence: null,
  collected: null,
  collectedAt: null,
  amount: null,
  rail: null,
  paymentRef: null,
  model: null,
  hub: null,
  intentId: null,
  attemptIndex: null,
} as const satisfies Partial<LineageRow>;
