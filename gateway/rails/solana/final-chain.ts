import type { Database } from '../../../subgraphs/database.ts';
import { type OpenSettlement } from '../../../subgraphs/receipt/claim/settlement/read.ts';
import type { Sighting } from '../base/settle/attempts.ts';
import type { FinalChain } from '../finality.ts';
import type { SvmChain } from './chain.ts';
import { blockName } from './decide.ts';

/** Solana, as far as its settlements are looked at again once they are final. */
export function finalSolana(database: Database, chain: SvmChain): FinalChain {
  return {
    database,
    network: 'solana',
    async finalized() {
      const finalized = await chain.finalized();
      return finalized.kind === 'ok' ? finalized.value.slot : null;
    },
    find: settlements => findLanded(chain, settlements),
  };
}

/** In one question for all; of blocks that a node has not seen yet, or keeps no longer, it has nothing to say. */
async function findLanded(
  chain: SvmChain,
  settlements: readonly OpenSettlement[],
): Promise<(settlement: OpenSettlement) => Sighting> {
  const signatures = settlements.flatMap(({ attempts }) => attempts.map(({ tx_hash }) => tx_hash));
  const [statuses, oldest] = await Promise.all([chain.statuses(signatures), chain.oldest()]);
  if (statuses.kind !== 'ok' || oldest.kind !== 'ok') return () => ({ kind: 'unseen' });
  const { slot: seen_to, value } = statuses.value;
  const landed = new Map(value.flatMap(status => (status ? [[status.signature, status.slot] as const] : [])));
  return ({ attempts, block_number }) => {
    const slot = attempts.map(({ tx_hash }) => landed.get(tx_hash)).find(found => found !== undefined);
    if (slot !== undefined) return { kind: 'mined', receipt: { block_number: slot, block_hash: blockName(slot) } };
    const known = block_number !== null && seen_to > block_number && oldest.value <= block_number;
    return { kind: known ? 'absent' : 'unseen' };
  };
}
