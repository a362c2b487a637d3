import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { betweenMarks } from '../../gateway/commands/papers/folders.ts';
import { ROOT } from '../harness/root.ts';
import type { Figure } from './alternate.ts';
import { heading, tableRow } from './print.ts';

/* Updates the page of figures. */

const PAGE = join(ROOT, 'test/bench/figures.md');
const [columns = '', rules = ''] = heading.split('\n');

/** A figure and the description of the other side. */
export type MeasuredFigure = readonly [figure: Figure, beside: string];

/**
 * The page with the new figures in the lines of the same name. Lines of contests that did not run keep their day and commit. A figure that
 * could not be measured replaces none.
 */
export function withFigures(
  page: string,
  names: readonly string[],
  taken: readonly MeasuredFigure[],
  when: string,
): string {
  const rows = new Map(rowsOf(page).map(row => [row.split(' | ')[0]?.slice(2) ?? '', row]));
  for (const [figure, beside] of taken)
    if (figure.ours !== null) rows.set(figure.name, `${tableRow(figure, beside)} ${when} |`);
  const known = names.flatMap(name => rows.get(name) ?? []);
  return betweenMarks(page, 'figures', [`${columns} taken |`, `${rules}---|`, ...known].join('\n'));
}

/** Rows of the table, without its heading. */
export function rowsOf(page: string): readonly string[] {
  const [, table = ''] = page.match(/<!-- figures -->\n([\s\S]*?)<!-- \/figures -->/) ?? [];
  return table.trim().split('\n').slice(2);
}

/** Writes the new figures into the page, and the machine on which they were measured. */
export async function writePage(
  names: readonly string[],
  taken: readonly MeasuredFigure[],
  machine: string,
): Promise<void> {
  const { stdout } = await promisify(execFile)('git', ['describe', '--always', '--dirty'], { cwd: ROOT });
  const when = `${new Date().toISOString().slice(0, 10)}, ${stdout.trim()}`;
  const page = withFigures(await readFile(PAGE, 'utf8'), names, taken, when);
  await writeFile(PAGE, betweenMarks(page, 'machine', `Last on ${machine}`));
}
