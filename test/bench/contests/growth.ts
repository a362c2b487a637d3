import { measured } from '../child/child.ts';
import { type Arena, atMost, type Contest, type Goal, type Line, type Measured, type Side } from '../contest.ts';
import type { Job } from '../servers/ledger.ts';

const SMALL = 1_000;
const works = ['append', 'page', 'filtered', 'connection', 'total', 'gaps', 'proof'] as const;
type Work = (typeof works)[number];
const times: Record<Work, { readonly quick: number; readonly long: number }> = {
  append: { quick: 400, long: 4_000 },
  page: { quick: 80, long: 500 },
  filtered: { quick: 80, long: 500 },
  connection: { quick: 80, long: 500 },
  total: { quick: 80, long: 500 },
  gaps: { quick: 400, long: 2_000 },
  proof: { quick: 100, long: 800 },
};

const names: Record<Work, string> = {
  append: 'an append',
  page: 'a page',
  filtered: 'a page behind a filter',
  connection: 'a page of a connection, anywhere in the book',
  total: 'the totals by day',
  gaps: 'the report of the sequence',
  proof: 'a proof',
};
/**
 * Totals of a small book are not a measure for those of a large one, because it has few days. They have an absolute limit of 5 ms instead.
 */
const goals: Record<Work, Goal> = {
  append: atMost(1.5),
  page: atMost(1.5),
  filtered: atMost(2),
  connection: atMost(1.5),
  total: { kind: 'at_most', value: 5 },
  gaps: atMost(1.5),
  proof: atMost(1.5),
};

/**
 * Cost of the same work on a large book and log, compared with small ones, because a ledger becomes slow if its costs grow with its size.
 */
export const growth: Contest = {
  name: 'growth',
  beside: 'at 1e3 rows',
  lines: works.map(work => line(work, '1e6')),
  quick_lines: works.map(work => line(work, '3e4')),
  async open(arena) {
    const { quick } = arena;
    return { ours: await standing(quick ? 30_000 : 1_000_000, arena), beside: await standing(SMALL, arena) };
  },
};

function line(work: Work, rows: string): Line {
  return {
    name: `cost of ${names[work]} at ${rows} rows and leaves`,
    unit: 'ms',
    goal: goals[work],
    of: ({ counts }) => counts[work] ?? Number.NaN,
    cpuUs: ({ counts }) => counts[cpuOf(work)] ?? Number.NaN,
  };
}

async function standing(rows: number, { stage, quick }: Arena): Promise<Side> {
  const ledger = await stage.ledger();
  const book = await stage.emptyBook(await stage.database());
  const jobs = works.map((work): [Work, Job] => [work, { book, rows, count: times[work][quick ? 'quick' : 'long'] }]);
  await ledger.ask('fill', { book, rows, count: 0 } satisfies Job);
  return {
    async round() {
      const rounds: [Work, Measured][] = [];
      for (const [work, job] of jobs) {
        if (work === 'append') await ledger.ask('prepare', job);
        rounds.push([work, await measured([ledger], () => ledger.ask(work, job).then(() => job.count))]);
      }
      return together(rounds);
    },
  };
}

/** Sums the rounds of all kinds of work, with time and CPU time of each kind per operation. */
function together(rounds: readonly [Work, Measured][]): Measured {
  const sum = (of: (measured: Measured) => number) => rounds.reduce((total, [, one]) => total + of(one), 0);
  const counts = rounds.flatMap(([work, { seconds, cpu_us, operations }]) => [
    [work, (seconds / operations) * 1000],
    [cpuOf(work), cpu_us / operations],
  ]);
  return {
    operations: sum(one => one.operations),
    seconds: sum(one => one.seconds),
    cpu_us: sum(one => one.cpu_us),
    counts: Object.fromEntries(counts),
  };
}

const cpuOf = (work: Work): string => `${work}_cpu_us`;
