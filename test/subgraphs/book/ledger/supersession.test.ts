import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { type InitialFacts, unknownFacts } from '../../../../schema/book-row.ts';
import { agentId } from '../../../../schema/ids.ts';
import { appendNewRows } from '../../../../subgraphs/book/ledger/append-new-rows.ts';
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

/** A row of a forest: an inflow, or a correction of the row at index `parent`, which may merge other rows of its chain. */
interface ForestRow {
  readonly parent: number | null;
  readonly merges: readonly number[];
}
type Forest = readonly ForestRow[];
const pick = fc.record({ parent: fc.option(fc.nat(), { nil: null }), others: fc.array(fc.nat(), { maxLength: 2 }) });
const forest: fc.Arbitrary<Forest> = fc.array(pick, { minLength: 1, maxLength: 10 }).map(picks => {
  const rows: ForestRow[] = [];
  for (const [index, { parent: picked, others }] of picks.entries()) {
    const parent = picked === null || index === 0 ? null : picked % index;
    if (parent === null) rows.push({ parent, merges: [] });
    else {
      const root = rootOf(rows, parent);
      const kin = rows.flatMap((row, at) => (row.parent !== null && rootOf(rows, at) === root ? [at] : []));
      const merged = kin.length === 0 ? [] : others.flatMap(other => kin[other % kin.length] ?? []);
      const branches = new Set(merged.length === 0 ? [] : [parent, ...merged]);
      rows.push({ parent, merges: branches.size > 1 ? [...branches] : [] });
    }
  }
  return rows;
});

const task = (index: number) => `task_${book}_${index}`;

function inflow(index: number): InitialFacts {
  const facts = { bucket: 'patron', allocation: '1' };
  return { ...unknownFacts, task_id: task(index), evidence: 'inflow_claimed', collected: false, facts };
}

function rootOf(rows: Forest, index: number): number {
  const parent = rows[index]?.parent ?? null;
  return parent === null ? index : rootOf(rows, parent);
}

async function planted(rows: Forest): Promise<void> {
  book++;
  await withBooks(database, book);
  const agent_id = agentId(book);
  for (const [index, { parent, merges }] of rows.entries())
    await database.transaction(async tx => {
      await appendNewRows(tx, [{ agent_id, birth: inflow(index), owed: false }]);
      if (parent === null) return;
      const merged_seqs = merges.map(it => it + 1);
      const original_seq = rootOf(rows, index) + 1;
      supersede(tx, { agent_id, seq: index + 1, original_seq, corrects_seq: parent + 1, merged_seqs, said_hash: null });
    });
}

/** Same result as the service's, computed from all rows. */
function judged(rows: Forest, of: (index: number) => boolean) {
  const corrections = rows.flatMap((row, index) => (row.parent !== null && of(index) ? [{ ...row, index }] : []));
  const successions = corrections.flatMap(({ parent, merges, index }) =>
    [...new Set([parent, ...merges])].map(named => ({ named, index })),
  );
  const successors = Map.groupBy(successions, ({ named }) => named);
  const forks = [...successors.values()].filter(all => all.length > 1).length;
  const tips = corrections.filter(({ index }) => !successors.has(index));
  const chains = new Set(corrections.map(({ index }) => rootOf(rows, index))).size;
  const status = corrections.length === 0 ? 'none' : forks > 0 ? 'forked' : 'linear';
  const [tip] = tips;
  const alone = chains === 1 && tips.length === 1;
  const authoritative = forks === 0 && alone && tip ? task(tip.index) : null;
  const merge = corrections.findLast(({ merges }) => merges.length > 0);
  const mergedBy = forks > 0 && alone && merge ? task(merge.index) : null;
  return { status, authoritative, mergedBy, chains, corrections: corrections.length, forks };
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
    { numRuns: 60 },
  );
  await auditBooks(database);
});

it('no merge is told of a chain that a version has corrected which counts no ends', async () => {
  await planted([null, 0, 0, 1].map((parent, index) => ({ parent, merges: index === 3 ? [2] : [] })));
  const readSequence = () => sequenceOf(database, agentId(book), null);
  expect(await readSequence()).toMatchObject({ supersession: { status: 'forked', mergedBy: task(3) } });
  // Counts one more correction, as the statement of that version does.
  const counts = 'update book_supersession set corrections = corrections + 1, forks = forks + 1 where agent_id = $1';
  await database.query({ text: counts, values: [book] });
  expect(await readSequence()).toMatchObject({ supersession: { status: 'forked', mergedBy: null } });
});

it('a replay takes no seq, a correction one', async () => {
  book++;
  await withBooks(database, book);
  const agent_id = agentId(book);
  await database.transaction(tx => collectAll(tx, [collection(book, 1)]));
  await database.transaction(tx => replay(tx, [`task_${book}_1`]));
  expect(await sequenceOf(database, agent_id, null)).toMatchObject({ seq: 1, count: 1, gapless: true });
  await database.transaction(async tx => {
    await appendNewRows(
      tx,
      [2, 3].map(index => ({ agent_id, birth: inflow(index), owed: false })),
    );
    supersede(tx, { agent_id, seq: 3, original_seq: 2, corrects_seq: 2, merged_seqs: [], said_hash: null });
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
    tips: 0,
    last_merge_task_id: null,
  };
  expect(isGapless(sound)).toBe(true);
  const wrong = [{ counted: 2 }, { seq: 4 }, { seq_max: 2 }, { seq_min: 2 }, { counted_min: 2 }, { counted_max: 4 }];
  for (const differently of wrong) expect(isGapless({ ...sound, ...differently })).toBe(false);
  await planted([1, 2, 3].map(() => ({ parent: null, merges: [] })));
  await database.query({ text: 'delete from book_row where agent_id = $1 and seq = 3', values: [book] });
  expect(await sequenceOf(database, agentId(book), null)).toMatchObject({ seq: 3, gapless: false });
  await planted([]);
  expect(await sequenceOf(database, agentId(book), null)).toMatchObject({ seq: 0, count: 0, gapless: true });
});
