import type { Database } from '../../../subgraphs/database.ts';
import { vouchOf } from '../../../subgraphs/receipt/index.ts';
import type { Hex } from '../base/abi.ts';
import type { Authorization } from '../base/authorization.ts';
import type { BaseChain } from '../base/chain.ts';
import type { Vouched } from '../base/outcome.ts';
import { lookFor } from './seen.ts';

/** A payment of which the chain has said nothing. */
export interface Unseen {
  readonly authorization: Authorization;
  readonly settlement_id: string | null;
  readonly from_block: number;
}

/** A facilitator's word for a payment that was left open, unless the chain belies it by now; null where there is none. */
export async function vouchFor(
  { database, chain }: { database: Pick<Database, 'query'>; chain: BaseChain },
  { authorization, settlement_id, from_block }: Unseen,
): Promise<Vouched | null> {
  const tx_hash = settlement_id === null ? null : ((await vouchOf(database, settlement_id)) as Hex | null);
  if (tx_hash === null) return null;
  const seen = await lookFor(chain, { authorization, from_block, tx_hash });
  return seen.kind === 'unknown' ? { kind: 'vouched', tx_hash } : null;
}
