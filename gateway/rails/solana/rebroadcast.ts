import type { Database } from '../../../subgraphs/database.ts';
import { markMined } from '../../../subgraphs/receipt/claim/settlement/journal.ts';
import { type OpenSettlement, sentSettlements } from '../../../subgraphs/receipt/claim/settlement/read.ts';
import { dropPost } from '../../../subgraphs/receipt/claim/settlement/write.ts';
import type { FinalChain, SettlementPresence } from '../finality.ts';
import type { SolanaChain } from './chain.ts';
import { blockName } from './decide.ts';

const SETTLEMENTS_MAX = 100;

export interface RebroadcastParts {
  readonly chain: SolanaChain;
  readonly database: Database;
  readonly fee_payer: { readonly address: string };
  readonly nudge_ms: number;
}

/**
 * Sends committed transactions again that are in no block: after a crash before the broadcast, or after a node lost them. It is
 * safe at any time in any process: the same bytes are one transaction, and none can be included after its last block height.
 */
export async function rebroadcastOnSolana({ chain, database, fee_payer, nudge_ms }: RebroadcastParts): Promise<void> {
  const sent = (await sentSettlements(database, [fee_payer.address], SETTLEMENTS_MAX)).flatMap(
    ({ settlement_id, age_ms, attempts: [attempt] }) =>
      attempt && age_ms >= nudge_ms ? [{ settlement_id, attempt }] : [],
  );
  if (sent.length === 0) return;
  const finalized = await chain.finalized();
  const statuses = await chain.statuses(sent.map(({ attempt }) => attempt.tx_hash));
  if (finalized.kind !== 'ok' || statuses.kind !== 'ok') return;
  const seen_enough = statuses.value.slot >= finalized.value.slot;

  for (const [index, { settlement_id, attempt }] of sent.entries()) {
    const status = statuses.value.value[index];
    const over = finalized.value.block_height > attempt.nonce;
    if (status)
      await markMined(database, settlement_id, { block_number: status.slot, block_hash: blockName(status.slot) });
    else if (!over) await chain.broadcast(attempt.raw);
    else if (seen_enough) await dropPost(database, settlement_id);
  }
}

/** Queries about Solana for checking settlements again once they are final. */
export function finalSolana(database: Database, chain: SolanaChain): FinalChain {
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

/**
 * Finds the slots of settlements with one request for all. A node's result says nothing about blocks that it has not seen yet or no
 * longer keeps.
 */
async function findLanded(
  chain: SolanaChain,
  settlements: readonly OpenSettlement[],
): Promise<(settlement: OpenSettlement) => SettlementPresence> {
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
