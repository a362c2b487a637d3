/** Who funded the payers of the board's posts, looked at once in the fleet: one wallet in a round, each in a few pages. */

import { type FundingParts, lookAtFunding } from '../../subgraphs/board/score/funding.ts';
import { type FundingChain, type MovedPage } from '../../subgraphs/board/score/look.ts';
import type { PeriodicTask } from '../jobs/periodic.ts';
import type { Hex } from '../rails/base/abi.ts';
import type { BaseChain } from '../rails/base/chain.ts';

type Chain = Pick<BaseChain, 'block' | 'transfersFrom' | 'transfersInto'>;

export function fundingTask({
  database,
  chain,
}: Pick<FundingParts, 'database'> & { readonly chain: Chain }): PeriodicTask {
  const parts = { database, chain: fundingChain(chain) };
  return { name: 'board_funding', rest_ms: 5_000, run: () => lookAtFunding(parts).then(() => undefined) };
}

function fundingChain(chain: Chain): FundingChain {
  const page = async (answer: ReturnType<Chain['transfersFrom']>): Promise<MovedPage> => {
    const read = await answer;
    if (read.kind !== 'ok') return { kind: read.kind };
    return { kind: 'read', moved: read.value.map(({ from, to, amount_atomic: amount }) => ({ from, to, amount })) };
  };
  return {
    async head() {
      const latest = await chain.block('latest');
      return latest.kind === 'ok' ? (latest.value?.number ?? null) : null;
    },
    into: (wallet, from, to) => page(chain.transfersInto(wallet as Hex, from, to)),
    outOf: (wallet, from, to) => page(chain.transfersFrom(wallet as Hex, from, to)),
  };
}
