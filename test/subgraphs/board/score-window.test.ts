import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scoreLimits } from '../../../schema/limits.ts';
import type { FundingEdge } from '../../../subgraphs/board/score/clusters.ts';
import { type ScoreRow, scoreOf } from '../../../subgraphs/board/score/rule.ts';
import { scoreWeights } from '../../../subgraphs/board/score/weights.ts';
import { fillWindow, type WeighablePost } from '../../../subgraphs/board/score/window.ts';

const posts = (count: number, amount: bigint, payer: (at: number) => string | null, id = 'a'): WeighablePost[] =>
  Array.from({ length: count }, (_, at) => ({
    post_id: `${id}${String(at).padStart(4, '0')}`,
    amount,
    payer: payer(at),
  }));
const ids = (list: readonly WeighablePost[]) => list.map(({ post_id }) => post_id);

describe('the places of a score', () => {
  it('are all taken by what is heavier, and of equals by what is newer', () => {
    const [old, young] = [posts(200, 2_000n, String, 'a'), posts(1, 2_000n, () => 'new', 'b')];
    expect(fillWindow([...old, ...young])).toEqual({
      post_ids: ids([...young, ...[...old].reverse()]).slice(0, 200),
      rows_free: 0,
    });
    const heavy = posts(200, 5_000n, String, 'a');
    expect(fillWindow([...young, ...heavy]).post_ids).not.toContain(young[0]?.post_id);
  });

  it('are filled by nobody alone: of one payer so many and no more', () => {
    const honest = posts(50, 2_000n, at => `honest_${at}`, 'a');
    const flood = posts(900, 3_000n, () => 'flooder', 'b');
    const { post_ids, rows_free } = fillWindow([...honest, ...flood]);
    expect(post_ids).toEqual(expect.arrayContaining(ids(honest)));
    expect(post_ids).toHaveLength(50 + scoreLimits.rows_per_payer_max);
    expect(rows_free).toBe(scoreLimits.rows_max - post_ids.length);
    expect(fillWindow(posts(900, 3_000n, () => null)).post_ids).toHaveLength(scoreLimits.rows_per_payer_max);
    // There are so many rows that some may not have been read, so no room is reported.
    expect(fillWindow(posts(scoreLimits.candidates_max, 3_000n, () => 'flooder')).rows_free).toBe(0);
  });

  it('move a score by a tenth for no less than is stated, whoever pushes out whom', () => {
    fc.assert(
      fc.property(world, ({ bounds, honest, attack, outcome, edges }) => {
        const before = scoreIn(honest, bounds, edges);
        if (before.clusters.length === 0) return;
        const after = scoreIn([...honest, ...attack.map(it => ({ ...it, outcome }))], bounds, edges);
        const spent = attack.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
        const moved = Number(after.score_bp) - Number(before.score_bp);
        const cost = moved > 0 ? before.cost_to_move.up : before.cost_to_move.down;
        if (Math.abs(moved) < scoreWeights.move_bp) return;
        expect(cost).not.toBeNull();
        expect(spent >= (cost?.spent ?? 0n)).toBe(true);
      }),
      { numRuns: 3_000, examples: [[replacedAtTheBound], [joinedByTheReplaced]] },
    );
  });
});

function row(members: Pick<ScoreRow, 'post_id' | 'amount' | 'payer'> & Partial<ScoreRow>): ScoreRow {
  return {
    outcome: 'success',
    rail: 'usdc',
    backing: 'spend-backed',
    host_basis: 'signed',
    paid_here: true,
    proven: true,
    self_dealt: false,
    ...members,
  };
}

const AMOUNTS = [2_000n, 2_001n, 5_000n, 50_000n, 400_000n, 1_000_000n, 3_000_000n];
const rowsOf = (side: string, payer: fc.Arbitrary<string>, minLength: number) =>
  fc
    .array(fc.record({ amount: fc.constantFrom(...AMOUNTS), payer, good: fc.boolean(), late: fc.boolean() }), {
      minLength,
      maxLength: 8,
    })
    .map(list =>
      list.map(({ amount, payer, good, late }, at) =>
        row({
          post_id: `${late ? 'z' : 'b'}${side}${at}`,
          outcome: good ? 'success' : 'error',
          amount: String(amount),
          payer: `${side}_${payer}`,
        }),
      ),
    );
const world = fc.record({
  bounds: fc.record({
    rows_max: fc.integer({ min: 1, max: 8 }),
    rows_per_payer_max: fc.integer({ min: 1, max: 3 }),
    candidates_max: fc.integer({ min: 8, max: 12 }),
  }),
  honest: rowsOf('honest', fc.constantFrom('1', '2', '3', '4'), 1),
  attack: rowsOf('attack', fc.constantFrom('1', '2', '3', '4', '5', '6', '7', '8'), 1),
  outcome: fc.constantFrom('success', 'error') as fc.Arbitrary<ScoreRow['outcome']>,
  edges: fc.array(
    fc.record({
      funder: fc.constantFrom('f1', 'f2', 'f3'),
      payer: fc.constantFrom('honest_1', 'honest_2', 'honest_3', 'honest_4'),
      amount: fc.constant('9000000'),
      funded_wallets: fc.constant(2),
    }),
    { maxLength: 5 },
  ),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

/** A new row replaces one of a cluster that is at its bound, and the cluster's weight stays the same. */
const replacedAtTheBound: World = {
  bounds: { rows_max: 3, rows_per_payer_max: 2, candidates_max: 8 },
  honest: [
    row({ post_id: 'b0', amount: '1000000', payer: 'honest_1' }),
    row({ post_id: 'b1', amount: '1000000', payer: 'honest_4', outcome: 'error' }),
    row({ post_id: 'b2', amount: '50000', payer: 'honest_4' }),
  ],
  attack: [row({ post_id: 'a0', amount: '400000', payer: 'attack_1' })],
  outcome: 'error',
  edges: [],
};
/** A new row replaces the row of the payer that joins two other clusters. */
const joinedByTheReplaced: World = {
  bounds: { rows_max: 4, rows_per_payer_max: 2, candidates_max: 8 },
  honest: [
    row({ post_id: 'b0', amount: '1000000', payer: 'honest_1' }),
    row({ post_id: 'b1', amount: '1000000', payer: 'honest_2' }),
    row({ post_id: 'b2', amount: '2000', payer: 'honest_3' }),
    row({ post_id: 'b3', amount: '1000000', payer: 'honest_4', outcome: 'error' }),
  ],
  attack: [row({ post_id: 'z0', amount: '2000', payer: 'attack_1' })],
  outcome: 'success',
  edges: [
    { funder: 'f1', payer: 'honest_1', amount: '9000000', funded_wallets: 2 },
    { funder: 'f1', payer: 'honest_3', amount: '9000000', funded_wallets: 2 },
    { funder: 'f2', payer: 'honest_3', amount: '9000000', funded_wallets: 2 },
    { funder: 'f2', payer: 'honest_2', amount: '9000000', funded_wallets: 2 },
  ],
};

/** The score of the heaviest rows, after some of them were chosen. */
function scoreIn(
  all: readonly ScoreRow[],
  bounds: NonNullable<Parameters<typeof fillWindow>[1]>,
  edges: readonly FundingEdge[],
) {
  const weighed = all.map(({ post_id, amount, payer }) => ({ post_id, amount: BigInt(amount), payer }));
  const everything = { rows_max: all.length, rows_per_payer_max: all.length, candidates_max: all.length + 1 };
  const heaviest = fillWindow(weighed, everything).post_ids.slice(0, bounds.candidates_max);
  const candidates = weighed.filter(({ post_id }) => heaviest.includes(post_id));
  const { post_ids, rows_free } = fillWindow(candidates, bounds);
  return scoreOf({ rows: all.filter(({ post_id }) => post_ids.includes(post_id)), edges, rows_free });
}
