import { type Means, openSignaturesOf } from '../../../subgraphs/receipt/claim/funds.ts';
import type { Till } from '../../charge/till.ts';
import type { Reached } from '../rpc.ts';
import type { SvmChain } from './chain.ts';
import { usdcAccountOf } from './programs.ts';

/**
 * Open claims first, then what became of them, then the balance: a claim counts as moved only where its transaction was
 * in a block by the slot of that balance. One that moves in between counts twice, and is seen by the next look.
 */
export async function meansOf(
  chain: SvmChain,
  { database }: Pick<Till, 'database'>,
  payer: string,
): Promise<Reached<Means>> {
  const open = await openSignaturesOf(database, payer);
  const statuses = await chain.statuses(open.map(({ tx_hash }) => tx_hash));
  if (statuses.kind !== 'ok') return statuses;
  const holding = await chain.holding(await usdcAccountOf(payer));
  if (holding.kind !== 'ok') return holding;
  const { slot, value } = holding.value;
  const moved = open.filter((_, index) => {
    const status = statuses.value.value[index];
    return status && status.err === null && status.slot <= slot;
  });
  const balance_atomic = value?.amount_atomic ?? 0n;
  return { kind: 'ok', value: { balance_atomic, moved: moved.map(({ claim_key }) => claim_key) } };
}
