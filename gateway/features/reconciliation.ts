import { reconciliationLimits } from '../../schema/limits.ts';
import { reconciliationAddition } from '../../subgraphs/book/reconciliation/addition.ts';
import { advance } from '../../subgraphs/book/reconciliation/advance.ts';
import { reconciliationJob } from '../../subgraphs/book/reconciliation/job.ts';
import type { SentTransfers } from '../../subgraphs/book/reconciliation/sent-transfers.ts';
import { addJob } from '../../subgraphs/jobs.ts';
import type { Hex } from '../rails/base/abi.ts';
import type { ChainBlock } from '../rails/base/chain.ts';
import type { ChainAnswer } from '../rails/rpc.ts';
import type { Feature, FeatureParts } from './feature.ts';

/** Adds reports of the USDC that a wallet sent, and the job that makes them block by block. */
export const reconciliationFeature: Feature = {
  name: 'reconciliation',
  adds: { book: reconciliationAddition },
  tasks({ issuer, profile, chain }) {
    const parts = { issuer, profile, chain: sentTransfers(chain) };
    return {
      'book/reconciliation': {
        async run({ report_id }, { database, signal }) {
          const advanced = await advance({ ...parts, database }, report_id, signal);
          if (advanced === 'ended') return;
          const rest_ms = advanced === 'rests' ? reconciliationLimits.rest_ms : 0;
          await addJob(database, reconciliationJob(report_id, rest_ms));
        },
      },
    };
  },
};

/** Queries about Base that a reconciliation needs. */
function sentTransfers(chain: FeatureParts['chain']): SentTransfers {
  return {
    async ends(from_block, to_block) {
      const [from, to, final] = await Promise.all([
        chain.block(from_block),
        chain.block(to_block),
        chain.block('finalized'),
      ]);
      const [first, last, finalized] = [blockOf(from, from_block), blockOf(to, to_block), blockOf(final, null)];
      if (first === undefined || last === undefined || finalized === undefined) return { kind: 'unreachable' };
      if (first === null || last === null) return { kind: 'absent' };
      const is_final = finalized !== null && to_block <= finalized.number;
      return { kind: 'found', from_hash: first.hash, to_hash: last.hash, final: is_final };
    },
    async transfersOf(wallet, from_block, to_block) {
      const answer = await chain.transfersFrom(wallet.toLowerCase() as Hex, from_block, to_block);
      if (answer.kind !== 'ok') return { kind: answer.kind };
      const transfers = answer.value.map(({ amount_atomic: amount, ...transfer }) => ({ ...transfer, amount }));
      return { kind: 'read', transfers };
    },
  };
}

/**
 * The block of a response. Null if the chain does not have it; undefined if unknown, or if the node returned a block with another
 * number.
 */
function blockOf(answer: ChainAnswer<ChainBlock | null>, number: number | null): ChainBlock | null | undefined {
  if (answer.kind !== 'ok') return undefined;
  if (answer.value !== null && number !== null && answer.value.number !== number) return undefined;
  return answer.value;
}
