import { everyDoor } from '../../../rest-compat/every-door.ts';
import { atomicAmount, formatUsdc } from '../../../schema/amount.ts';

/** The doors that are served, as a table: methods, path, price, and what each is for. */
export function doorTable(): string {
  const lines = everyDoor.map(({ methods, path, price, summary }) => {
    const cost = price ? formatUsdc(atomicAmount(price.amount_atomic)) : 'free';
    return `| ${methods.join(', ')} | \`${path}\` | ${cost} | ${summary} |`;
  });
  return ['| method | path | price | |', '|---|---|---|---|', ...lines].join('\n');
}
