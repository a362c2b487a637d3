import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { agentId } from '../../../../schema/ids.ts';
import { lineageLimits } from '../../../../schema/limits.ts';
import { LINEAGE, readLineage } from '../../../../subgraphs/book/lineage/read.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { insertRowsAt } from '../../../harness/ledger/dated-rows.ts';
import { withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
let book = 0;
beforeAll(async () => {
  database = await freshStore();
});

const AT = '2026-03-01T12:00:00.000Z';
const nameOf = (agent: number, seq: number) => `task_${agent}_${seq}`;

/** A new book. Each number is the parent of the row at its index: the number of a row from 1, or 0 for none. */
async function bookOf(parents: readonly number[]): Promise<number> {
  const agent = ++book;
  await withBooks(database, agent);
  const rows = parents.map(parent => ({ at: AT, parent_ref: parent === 0 ? null : nameOf(agent, parent) }));
  await insertRowsAt(database, agent, rows);
  return agent;
}

const read = (agent: number, seq: number, limit = 200, after = 0) =>
  readLineage(database, agentId(agent), nameOf(agent, seq), { limit, after });

/** The lineage, computed from the parents only, one row after the other. */
function expected(parents: readonly number[], seq: number) {
  const above = (of: number): number[] => {
    const parent = parents[of - 1] ?? 0;
    return parent === 0 ? [] : [parent, ...above(parent)];
  };
  const every = parents.map((_, index) => index + 1);
  const below = every.flatMap(one => {
    const depth = above(one).indexOf(seq) + 1;
    return depth === 0 ? [] : [{ seq: one, depth }];
  });
  const ancestors = above(seq).map((one, index) => ({ seq: one, depth: index + 1 }));
  return { ancestors, root: ancestors.at(-1)?.seq ?? seq, descendants: below };
}

const places = (rows: readonly { readonly seq: number | null; readonly depth: number }[]) =>
  rows.map(({ seq, depth }) => ({ seq, depth }));

/** Parents of rows. Each row follows from an earlier one or from none, as the endpoints ensure. */
const forest = fc
  .array(fc.nat(), { minLength: 1, maxLength: 40 })
  .map(chosen => chosen.map((number, index) => number % (index + 1)));

describe('the lineage of a row', () => {
  it('is that of the forest, of any row of any forest, all of it and page by page', async () => {
    await fc.assert(
      fc.asyncProperty(forest, fc.nat(), fc.integer({ min: 1, max: 7 }), async (parents, chosen, limit) => {
        const agent = await bookOf(parents);
        const seq = (chosen % parents.length) + 1;
        const wanted = expected(parents, seq);
        const whole = await read(agent, seq);
        expect(whole).toMatchObject({ agentId: agent, truncated: false, next: null });
        expect(whole?.self).toMatchObject({ seq, depth: 0, taskId: nameOf(agent, seq) });
        expect(whole?.root?.seq).toBe(wanted.root);
        expect(places(whole?.ancestors ?? [])).toEqual(wanted.ancestors);
        expect(places(whole?.descendants ?? [])).toEqual(wanted.descendants);
        // No row is its own ancestor, because all ancestors come before it.
        expect(whole?.ancestors.every(ancestor => Number(ancestor.seq) < seq)).toBe(true);

        const paged = [];
        for (let after: number | null = 0; after !== null; ) {
          const page = await read(agent, seq, limit, after);
          paged.push(...places(page?.descendants ?? []));
          after = page?.next ?? null;
        }
        expect(paged).toEqual(wanted.descendants);
      }),
      { numRuns: 60 },
    );
  });

  it('is of one book: rows of another are none of it, though they name the same tasks', async () => {
    const agent = await bookOf([0, 1]);
    const other = ++book;
    await withBooks(database, other);
    await insertRowsAt(database, other, [
      { at: AT, task_id: nameOf(agent, 1) },
      { at: AT, parent_ref: nameOf(agent, 1) },
      { at: AT, parent_ref: nameOf(agent, 1) },
    ]);
    expect(places((await read(agent, 1))?.descendants ?? [])).toEqual([{ seq: 2, depth: 1 }]);
    expect(await readLineage(database, agentId(other), nameOf(agent, 2), { limit: 50, after: 0 })).toBeNull();
  });

  it('is followed so far up and no further: no root, and the word that there is more', async () => {
    const { steps_max } = lineageLimits;
    const chain = Array.from({ length: steps_max + 2 }, (_, index) => index);
    const agent = await bookOf(chain);
    const lowest = await read(agent, steps_max + 2);
    expect(lowest).toMatchObject({ root: null, truncated: true });
    expect(lowest?.ancestors.map(({ seq }) => seq)).toEqual(chain.slice(2).toReversed());
    const above = await read(agent, steps_max + 1);
    expect(above).toMatchObject({ root: { seq: 1 }, truncated: false });
    expect(above?.ancestors).toHaveLength(steps_max);

    const highest = await read(agent, 1, 200, steps_max - 1);
    expect(highest).toMatchObject({ root: { seq: 1 }, truncated: true, next: null });
    expect(places(highest?.descendants ?? [])).toEqual([
      { seq: steps_max, depth: steps_max - 1 },
      { seq: steps_max + 1, depth: steps_max },
    ]);
    expect(await read(agent, 2)).toMatchObject({ truncated: false });
  });

  it('has the first descendants in the order of the book, and the word that there are more', async () => {
    const { descendants_max } = lineageLimits;
    // The first row has two children. All other rows are below the second child, except the last one.
    const parents = [0, 1, 1, ...Array.from({ length: descendants_max - 2 }, () => 3), 2];
    const agent = await bookOf(parents);
    const last = await read(agent, 1, 200, descendants_max - 1);
    expect(last).toMatchObject({ truncated: true, next: null });
    expect(places(last?.descendants ?? [])).toEqual([
      { seq: descendants_max, depth: 2 },
      { seq: descendants_max + 1, depth: 2 },
    ]);
    // A read that starts from a closer row returns it.
    expect(await read(agent, 2)).toMatchObject({ truncated: false, descendants: [{ seq: descendants_max + 2 }] });
    expect(await read(agent, 3)).toMatchObject({ truncated: false });
  });

  it('is read along indexes, however many other rows the book has', async () => {
    const agent = await bookOf([0, 1, 2, 0, ...Array.from({ length: 10_000 }, () => 4)]);
    await database.query({ text: 'analyze book_row' });
    const [explained] = await database.query<{ 'QUERY PLAN': Plan[] }>({
      text: `explain (analyze, buffers, format json) ${LINEAGE}`,
      values: [agent, nameOf(agent, 1), 0, 51],
    });
    const scans = scansOf((explained?.['QUERY PLAN'][0] as { Plan?: Plan })?.Plan);
    expect(scans.length).toBeGreaterThan(2);
    for (const scan of scans) expect(scan['Node Type'], JSON.stringify(scan)).toMatch(/^Index (Only )?Scan$/);
    const looked = scans.reduce((sum, scan) => sum + scan['Actual Rows'] * scan['Actual Loops'], 0);
    expect(looked).toBeLessThan(10);
  });
});

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Plan[];
}

/** Every scan of the table of rows in a plan. */
function scansOf(plan: Plan | undefined): Plan[] {
  if (!plan) return [];
  const here = plan['Relation Name'] === 'book_row' ? [plan] : [];
  return [...here, ...(plan.Plans ?? []).flatMap(scansOf)];
}
