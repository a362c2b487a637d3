import type { Database } from '../../../subgraphs/database.ts';
import { vouchOf } from '../../../subgraphs/receipt/claim/settlement/write.ts';
import type { Vouched } from '../outcome.ts';
import type { Payment } from '../payment.ts';
import type { Sent } from '../rail.ts';
import type { Carried } from './facilitated-chain.ts';

/** A facilitator's word for a payment that was left open, unless the chain belies it by now; null where there is none. */
export async function vouchFor<P extends Payment>(
  database: Pick<Database, 'query'>,
  carried: Carried<P>,
  payment: P,
  { settlement_id, from_block }: Sent,
): Promise<Vouched | null> {
  if (settlement_id === null || from_block === null) return null;
  const tx_hash = await vouchOf(database, settlement_id);
  if (tx_hash === null) return null;
  const seen = await carried.look({ payment, from_block, tx_hash });
  return seen.kind === 'unknown' ? { kind: 'vouched', tx_hash } : null;
}
