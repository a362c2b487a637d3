import type { DoorPrice } from '../../../rest-compat/door.ts';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { atomicAmount, formatUsdc } from '../../../schema/amount.ts';
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

function costOf(price: DoorPrice | null): string {
  if (price === null) return 'free';
  return price.amount_atomic === null ? 'as its 402 says' : formatUsdc(atomicAmount(price.amount_atomic));
}

/** The doors that are served, as a table: methods, path, price, and what each is for. */
function doorTable(): string {
  const lines = everyDoor.map(({ methods, path, price, summary }) => {
    const cost = costOf(price);
    return `| ${methods.join(', ')} | \`${path}\` | ${cost} | ${summary} |`;
  });
  return ['| method | path | price | |', '|---|---|---|---|', ...lines].join('\n');
}
