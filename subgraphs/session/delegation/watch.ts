import type { Tx } from '../../database.ts';
import { DELEGATION_CHANNEL } from '../../live.ts';

/** In the transaction that ends a session or counts on it: a name alone, whoever hears it reads for themselves. */
export function tellSessions(tx: Tx, delegation_hash: string): void {
  tx.write({
    name: 'tell of session',
    text: 'select pg_notify($1, $2)',
    values: [DELEGATION_CHANNEL, delegation_hash],
  });
}
