import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { doorTable } from './door-table.ts';
import { betweenMarks } from './marks.ts';
import { fileList, findRooms } from './rooms.ts';
import { hubMembers, variableTable } from './variable-tables.ts';

/** Every README.md that holds something derived, by its path from `root`, as it has to stand. */
export async function pagesAsDerived(root: string): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  for (const room of await findRooms(root)) {
    const path = `${room.folder}/README.md`;
    const page = betweenMarks(await readFile(join(root, path), 'utf8'), 'files', fileList(room));
    pages.set(
      path,
      tables.reduce((text, [name, table]) => betweenMarks(text, name, table()), page),
    );
  }
  return pages;
}

/** What may stand between marks of these names, on whatever page. */
const tables: readonly (readonly [string, () => string])[] = [
  ['doors', doorTable],
  ['variables', variableTable],
  ['hubs', hubMembers],
];
