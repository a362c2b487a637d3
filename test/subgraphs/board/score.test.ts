import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clustersOf, type FundingEdge } from '../../../subgraphs/board/score/clusters.ts';
import { type ScoreInputs, type ScoreRow, scoreOf } from '../../../subgraphs/board/score/rule.ts';
import { scoreWeights } from '../../../subgraphs/board/score/weights.ts';

const wallet = fc.constantFrom(...'abcdefgh');
const outcome = fc.constantFrom('success', 'error', 'double_charge', 'price_jump') as fc.Arbitrary<ScoreRow['outcome']>;
const row = fc.record({
  outcome,
  amount: fc.bigInt({ min: 0n, max: 3_000_000n }).map(String),
  rail: fc.constantFrom('usdc', 'usdc', 'usdc', 'xno'),
  backing: fc.constantFrom('spend-backed', 'spend-backed', 'stamp-backed') as fc.Arbitrary<ScoreRow['backing']>,
  host_basis: fc.constantFrom('signed', 'signed', 'declared') as fc.Arbitrary<ScoreRow['host_basis']>,
  paid_here: fc.integer({ min: 0, max: 4 }).map(n => n > 0),
  proven: fc.integer({ min: 0, max: 4 }).map(n => n > 0),
  self_dealt: fc.integer({ min: 0, max: 4 }).map(n => n === 0),
  payer: fc.oneof({ weight: 9, arbitrary: wallet }, { weight: 1, arbitrary: fc.constant(null) }),
});
const rows = fc.array(row, { maxLength: 12 }).map(list => list.map((it, at) => ({ ...it, post_id: `post_${at}` })));
const edge: fc.Arbitrary<FundingEdge> = fc.record({
  funder: fc.constantFrom(...'abcdxyz'),
  payer: wallet,
  amount: fc.constantFrom('1', '2000', '3000000', null),
  funded_wallets: fc.constantFrom(1, 2, 50, 51, null),
});
/** Room for every row. The cost of a move without room is tested separately. */
const ROOM = 1_000_000;
const inputs: fc.Arbitrary<ScoreInputs> = fc.record({
  rows,
  edges: fc.array(edge, { maxLength: 8 }),
  rows_free: fc.constant(ROOM),
});
const scoreBy = (given: Omit<ScoreInputs, 'rows_free'>) => scoreOf({ ...given, rows_free: ROOM });

const paid = (...payers: readonly string[]) => new Map(payers.map(payer => [payer, 200_000n]));
const good = (payer: string, members: Partial<ScoreRow> = {}): ScoreRow => ({
  post_id: `post_${payer}`,
  outcome: 'success',
  amount: '200000',
  rail: 'usdc',
  backing: 'spend-backed',
  host_basis: 'signed',
  paid_here: true,
  proven: true,
  self_dealt: false,
  payer,
  ...members,
});

describe('the score of an endpoint', () => {
  it('is the same in whatever order rows and edges come', () => {
    const shuffled = inputs.chain(given =>
      fc.record({
        given: fc.constant(given),
        rows: fc.shuffledSubarray([...given.rows], { minLength: given.rows.length }),
        edges: fc.shuffledSubarray([...given.edges], { minLength: given.edges.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ given, ...other }) => {
        expect(scoreBy(other)).toEqual(scoreOf(given));
      }),
    );
  });

  it('lies between 0 and 10,000, and says of each row where it counts or why it does not', () => {
    fc.assert(
      fc.property(inputs, given => {
        const { score_bp, unscored_because, rows: scored, clusters } = scoreOf(given);
        // If no row counts, there is no score.
        const nothing = given.rows.length === 0 ? 'no_reports' : 'no_accepted_evidence';
        expect([score_bp === null, unscored_because]).toEqual(clusters.length === 0 ? [true, nothing] : [false, null]);
        expect(score_bp ?? 0).toBeGreaterThanOrEqual(0);
        expect(score_bp ?? 0).toBeLessThanOrEqual(10_000);
        expect(scored).toHaveLength(given.rows.length);
        for (const { cluster, zero_because } of scored) expect(cluster === null).toBe(zero_because !== null);
        expect(clusters.reduce((sum, { posts }) => sum + posts, 0)).toBe(scored.filter(it => it.cluster).length);
      }),
    );
  });

  it.each<[why: string, members: Partial<ScoreRow>]>([
    ['declared', { host_basis: 'declared' }],
    ['paid_elsewhere', { paid_here: false }],
    ['paid_elsewhere', { paid_here: false, proven: false, amount: '1' }],
    ['too_little', { amount: '1' }],
    ['too_little', { amount: '1999' }],
    ['unproven', { proven: false }],
    ['unproven', { backing: 'stamp-backed' }],
    ['unproven', { payer: null }],
    ['unproven', { amount: '0' }],
    ['other_rail', { rail: 'xno' }],
    ['self_dealt', { self_dealt: true }],
  ])('is never moved by a row that is %s: %j', (why, members) => {
    fc.assert(
      fc.property(inputs, outcome, (given, said) => {
        const more = good('zero', { outcome: said, ...members });
        const { score_bp, clusters, cost_to_move, rows: scored } = scoreOf({ ...given, rows: [...given.rows, more] });
        expect({ score_bp, clusters, cost_to_move }).toEqual({
          ...(({ score_bp, clusters, cost_to_move }) => ({ score_bp, clusters, cost_to_move }))(scoreOf(given)),
        });
        expect(scored.find(({ post_id }) => post_id === more.post_id)?.zero_because).toBe(why);
      }),
    );
  });

  it('counts payers that fund each other once, whether one funds the other or a third funds both', () => {
    const rows = ['a', 'b', 'c'].map(payer => good(payer, { amount: scoreWeights.cluster_amount_max }));
    const apart = scoreBy({ rows, edges: [] });
    expect(apart.clusters).toHaveLength(3);
    const one = scoreBy({
      rows,
      edges: [
        { funder: 'a', payer: 'b', amount: '100000', funded_wallets: 1 },
        { funder: 'f', payer: 'b', amount: '100000', funded_wallets: 50 },
        { funder: 'f', payer: 'c', amount: '100000', funded_wallets: 50 },
      ],
    });
    expect(one.clusters).toMatchObject([{ payers: 3, posts: 3, weight: BigInt(scoreWeights.cluster_amount_max) }]);
    expect(one.score_bp).toBe(scoreBy({ rows: rows.slice(0, 1), edges: [] }).score_bp);
    expect(one.score_bp).toBeLessThan(Number(apart.score_bp));
  });

  it('is merged by nobody who funds more than 50 wallets, or nobody knows how many', () => {
    for (const funded_wallets of [51, 1_000_000, null]) {
      const edges = ['a', 'b'].map(payer => ({ funder: 'exchange', payer, amount: '9000000', funded_wallets }));
      expect(new Set(clustersOf(paid('a', 'b'), edges, scoreWeights).values()).size).toBe(2);
    }
  });

  it('is merged by nobody who sends dust: less than a tenth of what a payer paid at once, or than a stamp', () => {
    const strangers = Array.from({ length: 50 }, (_, at) => `honest_${at}`);
    const by = (amount: string | null, spent: bigint) => {
      const edges = strangers.map(payer => ({ funder: 'duster', payer, amount, funded_wallets: 50 }));
      const rows = strangers.map(payer => good(payer, { amount: String(spent) }));
      return scoreBy({ rows, edges }).clusters.length;
    };
    for (const [dust, spent] of [
      ['1', 2_000n],
      ['1999', 2_000n],
      [null, 2_000n],
      ['19999', 200_000n],
    ] as const)
      expect([dust, by(dust, spent)]).toEqual([dust, 50]);
    expect(by('2000', 2_000n)).toBe(1);
    expect(by('20000', 200_000n)).toBe(1);
  });

  it('more wallets of one cluster never weigh more than a cluster may', () => {
    fc.assert(
      fc.property(inputs, given => {
        for (const { weight, good: spoken } of scoreOf(given).clusters) {
          expect(weight).toBeLessThanOrEqual(BigInt(scoreWeights.cluster_amount_max));
          expect(spoken).toBeLessThanOrEqual(weight);
        }
      }),
    );
  });

  it('moves by a tenth for the stated cost, and for no less', () => {
    fc.assert(
      fc.property(inputs, fc.constantFrom('up', 'down'), (given, way) => {
        const { score_bp: before, cost_to_move } = scoreOf(given);
        const score_bp = Number(before);
        const cost = cost_to_move[way];
        fc.pre(cost === null || cost.clusters <= 2_000);
        const by = (spent: bigint) =>
          Number(scoreOf({ ...given, rows: [...given.rows, ...added(spent, way)] }).score_bp);
        const moved = (spent: bigint) => (way === 'up' ? by(spent) - score_bp : score_bp - by(spent));
        // The row of a new payer would be the first to count, so there is no cost until then.
        if (scoreOf(given).clusters.length === 0) expect(cost_to_move).toEqual({ up: null, down: null });
        else if (cost === null) expect(moved(10n ** 12n)).toBeLessThan(scoreWeights.move_bp);
        else {
          expect(moved(cost.spent)).toBeGreaterThanOrEqual(scoreWeights.move_bp);
          expect(moved(cost.spent - 1n)).toBeLessThan(scoreWeights.move_bp);
          expect(added(cost.spent, way)).toHaveLength(cost.clusters);
        }
      }),
    );
  });
});

/**
 * Rows that add that amount with as few payers as possible, all with the same amount. A very large amount is added by two thousand of them.
 */
function added(spent: bigint, way: 'up' | 'down'): ScoreRow[] {
  const max = BigInt(scoreWeights.cluster_amount_max);
  const strangers = (spent + max - 1n) / max;
  if (strangers > 2_000n) return added(2_000n * max, way);
  return Array.from({ length: Number(strangers) }, (_, at) => {
    const amount = spent / strangers + (BigInt(at) < spent % strangers ? 1n : 0n);
    return good(`stranger_${at}`, { amount: String(amount), outcome: way === 'up' ? 'success' : 'error' });
  });
}
