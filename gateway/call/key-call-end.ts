import type { Database } from '../../subgraphs/database.ts';
import { dropKeyCall, type KeyCallHold, wasKeyCallCanceled } from '../../subgraphs/receipt/claim/key-call/hold.ts';
import { dropNames, type NamedCall } from '../../subgraphs/receipt/claim/key-call/idempotency-names.ts';

/* Ends a call by API key that failed: releases what it held, and finds out who released it first. */

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

/** If the database does not say, the call may as well have been lost; both had no effect and may be repeated. */
export function canceledByBuyer({ names: { database } }: Parts, { hold }: HeldCall): Promise<boolean> {
  return wasKeyCallCanceled(database, hold).catch(() => false);
}
