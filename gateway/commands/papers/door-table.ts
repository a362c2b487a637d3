import type { DoorPrice } from '../../../rest-compat/door.ts';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { atomicAmount, formatUsdc } from '../../../schema/amount.ts';

function costOf(price: DoorPrice | null): string {
  if (price === null) return 'free';
  return price.amount_atomic === null ? 'as its 402 says' : formatUsdc(atomicAmount(price.amount_atomic));
}

/** The doors that are served, as a table: methods, path, price, and what each is for. */
export function doorTable(): string {
  const lines = everyDoor.map(({ methods, path, price, summary }) => {
    const cost = costOf(price);
    return `| ${methods.join(', ')} | \`${path}\` | ${cost} | ${summary} |`;
  });
  return ['| method | path | price | |', '|---|---|---|---|', ...lines].join('\n');
}
