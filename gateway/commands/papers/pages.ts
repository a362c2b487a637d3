import { doorTable } from './door-table.ts';
import { betweenMarks } from './marks.ts';
import { type Checkout, fileList, findRooms } from './rooms.ts';
import { hubMembers, variableTable } from './variable-tables.ts';

/** Every README.md that holds something derived, by its path, as it has to stand. */
export function pagesAsDerived(checkout: Checkout): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  for (const room of findRooms(checkout)) {
    const path = `${room.folder}/README.md`;
    const page = betweenMarks(checkout.text(path), 'files', fileList(room));
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
