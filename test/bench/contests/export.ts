import { measured } from '../child/child.ts';
import { type Arena, atLeast, type Contest, type Line, perSecond, type Side } from '../contest.ts';
import type { Job } from '../servers/ledger.ts';

const MEMORY_MB_MAX = 200;

/** A whole book as CSV, read page by page, compared with Postgres's COPY of the same table. The output of both is discarded. */
export const exportContest: Contest = {
  name: 'export',
  beside: 'COPY book_row TO STDOUT, as it stands',
  lines: linesOf('1e6'),
  quick_lines: linesOf('3e4'),
  async open(arena) {
    const ledger = await arena.stage.ledger();
    const book = await arena.stage.emptyBook(await arena.stage.database());
    const rows = arena.quick ? 30_000 : 1_000_000;
    await ledger.ask('fill', { book, rows, count: 0 } satisfies Job);
    return { ours: await reading('stream', rows, book, arena), beside: await reading('copy', rows, book, arena) };
  },
};

function linesOf(rows: string): readonly Line[] {
  return [
    { name: `export of ${rows} rows as CSV`, unit: 'rows/s', goal: atLeast(0.5), of: perSecond },
    {
      name: 'the same: memory beyond that of the process at rest',
      unit: 'MB',
      goal: { kind: 'at_most', value: MEMORY_MB_MAX },
      alone: true,
      of: ({ counts }) => counts.peak_mb ?? Number.NaN,
    },
  ];
}

/** Each side is a separate process, so that its memory can be measured. */
async function reading(
  way: 'stream' | 'copy',
  rows: number,
  book: Job['book'],
  { stage, closing }: Arena,
): Promise<Side> {
  const exporter = await stage.start({ file: 'exporter' }, closing);
  return {
    async round() {
      let peak_mb = 0;
      const round = await measured([exporter], async () => {
        peak_mb = await exporter.ask<number>(way, book);
        return rows;
      });
      return { ...round, counts: { peak_mb } };
    },
  };
}
