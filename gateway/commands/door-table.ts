import { everyDoor } from '../../rest-compat/every-door.ts';
import { atomicAmount, formatUsdc } from '../../schema/amount.ts';

/** The door table as the README shows it. */
function doorTable(): string {
  const lines = everyDoor.map(({ methods, path, price, summary }) => {
    const cost = price ? formatUsdc(atomicAmount(price.amount_atomic)) : 'free';
    return `| ${methods.join(', ')} | \`${path}\` | ${cost} | ${summary} |`;
  });
  return ['| method | path | price | |', '|---|---|---|---|', ...lines].join('\n');
}

/** Puts the table between the README's marks. */
export function withDoorTable(readme: string): string {
  return readme.replace(
    /(<!-- doors -->\n)[\s\S]*?(<!-- \/doors -->)/,
    (_, open, close) => `${open}${doorTable()}\n${close}`,
  );
}
