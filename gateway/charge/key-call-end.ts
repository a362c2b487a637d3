import type { Database } from '../../subgraphs/database.ts';
import { dropKeyCall, type KeyCallHold, wasKeyCallCanceled } from '../../subgraphs/receipt/claim/key-call/hold.ts';
import { dropNames, type NamedCall } from '../../subgraphs/receipt/claim/key-call/idempotent.ts';

/* A call by key that came to nothing: what it held is let go of, and who let go of it first. */

interface Parts {
  readonly names: { readonly database: Pick<Database, 'transaction' | 'query'> };
}
interface HeldCall {
  readonly hold: KeyCallHold;
  readonly named: Pick<NamedCall, 'mark'> | null;
}

export function dropCallByKey({ names: { database } }: Parts, { hold, named }: HeldCall): Promise<void> {
  return database.transaction(async tx => {
    dropNames(tx, named ? [{ ...hold, mark: named.mark }] : []);
    dropKeyCall(tx, hold);
  });
}

/** Where the database does not say, it may as well have been lost: both came to nothing, and may be asked for again. */
export function canceledByBuyer({ names: { database } }: Parts, { hold }: HeldCall): Promise<boolean> {
  return wasKeyCallCanceled(database, hold).catch(() => false);
}
