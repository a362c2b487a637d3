import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { nothingKnown, type RowBirth } from '../../../../schema/book-row.ts';
import { agentId } from '../../../../schema/ids.ts';
import { append } from '../../../../subgraphs/book/ledger/append-births.ts';
import { replay } from '../../../../subgraphs/book/ledger/replay.ts';
import { supersede } from '../../../../subgraphs/book/ledger/supersede.ts';
import { isGapless, type SequenceCounts, sequenceOf } from '../../../../subgraphs/book/page/sequence.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';
import { collectAll, collection, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
let book = 0;
beforeAll(async () => {
  database = await freshStore();
});

/** Each row of a forest: an inflow, or a correction of an earlier row, by its index. */
type Forest = readonly (number | null)[];
const forest: fc.Arbitrary<Forest> = fc
  .array(fc.option(fc.nat(), { nil: null }), { minLength: 1, maxLength: 10 })
  .map(picks => picks.map((pick, index) => (pick === null || index === 0 ? null : pick % index)));

const task = (index: number) => `task_${book}_${index}`;

function inflow(index: number): RowBirth {
  const facts = { bucket: 'patron', allocation: '1' };
  return { ...nothingKnown, task_id: task(index), evidence: 'inflow_claimed', collected: false, facts };
}

const rootOf = (parents: Forest, index: number): number => {
  const parent = parents[index] ?? null;
  return parent === null ? index : rootOf(parents, parent);
};

async function planted(parents: Forest): Promise<void> {
  book++;
  await withBooks(database, book);
  const agent_id = agentId(book);
  for (const [index, parent] of parents.entries())
    await database.transaction(async tx => {
      await append(tx, [{ agent_id, birth: inflow(index), owed: false }]);
      const original_seq = rootOf(parents, index) + 1;
      if (parent !== null)
        supersede(tx, { agent_id, seq: index + 1, original_seq, corrects_seq: parent + 1, said_hash: null });
    });
}

/** The same by looking at all of it. */
function judged(parents: Forest, of: (index: number) => boolean) {
  const corrections = parents.flatMap((parent, index) => (parent !== null && of(index) ? [{ parent, index }] : []));
  const successors = Map.groupBy(corrections, ({ parent }) => parent);
  const forks = [...successors.values()].filter(all => all.length > 1).length;
  const tips = corrections.filter(({ index }) => !successors.has(index));
  const chains = new Set(corrections.map(({ index }) => rootOf(parents, index))).size;
  const status = corrections.length === 0 ? 'none' : forks > 0 ? 'forked' : 'linear';
  const [tip] = tips;
  const authoritative = forks === 0 && tips.length === 1 && tip ? task(tip.index) : null;
  return { status, authoritative, chains, corrections: corrections.length, forks };
}

it('what is counted of corrections is what a look at all of them finds, of the book and of each chain', async () => {
  await fc.assert(
    fc.asyncProperty(forest, async parents => {
      await planted(parents);
      const whole = await sequenceOf(database, agentId(book), null);
      expect(whole).toMatchObject({ seq: parents.length, count: parents.length, gapless: true });
      expect(whole.supersession).toEqual({ ...judged(parents, () => true), taskId: null });
      for (const index of parents.keys()) {
        const root = rootOf(parents, index);
        const { supersession } = await sequenceOf(database, agentId(book), task(index));
        const expected = judged(parents, other => rootOf(parents, other) === root);
        expect(supersession).toEqual({ ...expected, taskId: task(index) });
      }
    }),
    { numRuns: 40 },
  );
  await auditBooks(database);
});

it('a replay takes no seq, a correction one', async () => {
  book++;
  await withBooks(database, book);
  const agent_id = agentId(book);
  await database.transaction(tx => collectAll(tx, [collection(book, 1)]));
  await database.transaction(tx => replay(tx, [`task_${book}_1`]));
  expect(await sequenceOf(database, agent_id, null)).toMatchObject({ seq: 1, count: 1, gapless: true });
  await database.transaction(async tx => {
    await append(
      tx,
      [2, 3].map(index => ({ agent_id, birth: inflow(index), owed: false })),
    );
    supersede(tx, { agent_id, seq: 3, original_seq: 2, corrects_seq: 2, said_hash: null });
  });
  expect(await sequenceOf(database, agent_id, null)).toMatchObject({
    seq: 3,
    gapless: true,
    supersession: { status: 'linear', authoritative: task(3) },
  });
});

it('a row that is lost, or one that nobody counted, makes it none without a gap', async () => {
  const sound: SequenceCounts = {
    seq: 3,
    counted: 3,
    counted_min: 1,
    counted_max: 3,
    seq_min: 1,
    seq_max: 3,
    chains: 0,
    corrections: 0,
    forks: 0,
    last_task_id: null,
  };
  expect(isGapless(sound)).toBe(true);
  const wrong = [{ counted: 2 }, { seq: 4 }, { seq_max: 2 }, { seq_min: 2 }, { counted_min: 2 }, { counted_max: 4 }];
  for (const differently of wrong) expect(isGapless({ ...sound, ...differently })).toBe(false);
  await planted([null, null, null]);
  await database.query({ text: 'delete from book_row where agent_id = $1 and seq = 3', values: [book] });
  expect(await sequenceOf(database, agentId(book), null)).toMatchObject({ seq: 3, gapless: false });
  await planted([]);
  expect(await sequenceOf(database, agentId(book), null)).toMatchObject({ seq: 0, count: 0, gapless: true });
});
