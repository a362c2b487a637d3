import type { Database } from '../../../../subgraphs/database.ts';
import { findSettlement } from '../../../../subgraphs/receipt/claim/settlement/read.ts';
import type { Decision } from '../../outcome.ts';
import type { Hex } from '../abi.ts';
import type { Authorization } from '../authorization.ts';
import type { BaseChain } from '../chain.ts';
import { decidePayment } from '../decide.ts';
import { hashesOf } from './attempts.ts';

/** What a claim remembers of its payment; `settlement_id` is null where it was never submitted by us. */
export interface ClaimedPayment {
  readonly authorization: Authorization;
  readonly settlement_id: string | null;
  readonly from_block: number;
}

/** What became of a claim's payment, for whoever finds it unfinished: after a crash, a time-out, a restart. */
export async function reconcileSettlement(
  { database, chain }: { database: Pick<Database, 'query'>; chain: BaseChain },
  { authorization, settlement_id, from_block }: ClaimedPayment,
): Promise<Decision> {
  const attempts = settlement_id === null ? [] : await attemptsOf(database, settlement_id);
  return decidePayment(chain, { authorization, attempts, from_block });
}

/** Every transaction of a settlement, replacements included. */
async function attemptsOf(database: Pick<Database, 'query'>, settlement_id: string): Promise<readonly Hex[]> {
  const settlement = await findSettlement(database, settlement_id);
  return settlement ? hashesOf(settlement) : [];
}
