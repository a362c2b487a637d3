import { scoreAddition } from '../../subgraphs/board/score/addition.ts';
import { lookAtFunding } from '../../subgraphs/board/score/funding.ts';
import { type FundingChain, type MovedPage } from '../../subgraphs/board/score/look.ts';
import type { Hex } from '../rails/base/abi.ts';
import type { Feature, FeatureParts } from './feature.ts';

/**
 * Adds scores of endpoints, and a periodic job that looks up who funded the payers of the board's posts. Each run handles one
 * wallet, in a few pages.
 */
export const scoreFeature: Feature = {
  name: 'score',
  adds: { board: scoreAddition },
  periodic({ database, chain }) {
    const parts = { database, chain: fundingChain(chain) };
    return [{ name: 'board_funding', rest_ms: 5_000, run: () => lookAtFunding(parts).then(() => undefined) }];
  },
};

function fundingChain(chain: FeatureParts['chain']): FundingChain {
  const page = async (answer: ReturnType<typeof chain.transfersFrom>): Promise<MovedPage> => {
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
