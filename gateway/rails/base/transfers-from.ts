import { z } from 'zod';
import type { ChainAnswer, NodeRefusal, Rpc } from '../rpc.ts';
import type { Hex } from './abi.ts';
import { logShape, type Transfer } from './chain.ts';
import { readTransfer, topic, topics, USDC } from './contracts.ts';

/** Each by itself: a node may take seconds over one. */
export const searchesApart = { connections: 2, calls_per_request_max: 1, answer_bytes_max: 16 * 1024 * 1024 };

interface Blocks {
  readonly from_block: number;
  readonly to_block: number;
}

/** The same into it. */
export function transfersInto(rpc: Rpc, wallet: Hex, blocks: Blocks) {
  return transfersOf(
    rpc,
    { topics: [topics.transfer, null, topic(wallet)], is_its: ({ to }) => to === wallet },
    blocks,
  );
}

/**
 * USDC's transfers from a wallet in these blocks, in the chain's order. A node may answer with more than it was asked for, which is left
 * out; one that says two things of one place is not believed at all.
 */
export function transfersFrom(rpc: Rpc, wallet: Hex, blocks: Blocks) {
  return transfersOf(rpc, { topics: [topics.transfer, topic(wallet)], is_its: ({ from }) => from === wallet }, blocks);
}

interface Side {
  readonly topics: readonly (Hex | null)[];
  is_its(transfer: Transfer): boolean;
}

async function transfersOf(
  rpc: Rpc,
  { topics: wanted, is_its }: Side,
  { from_block, to_block }: Blocks,
): Promise<ChainAnswer<readonly Transfer[]> | NodeRefusal> {
  const range = { fromBlock: `0x${from_block.toString(16)}`, toBlock: `0x${to_block.toString(16)}` };
  const filter = { address: USDC, topics: wanted, ...range };
  const answer = await rpc.call('eth_getLogs', [filter], z.array(logShape));
  if (answer.kind !== 'ok') return answer;
  const asked = answer.value
    .map(readTransfer)
    .filter(transfer => transfer !== null)
    .filter(transfer => is_its(transfer))
    .filter(({ block_number }) => from_block <= block_number && block_number <= to_block)
    // Anybody may send nothing of another's (EIP-20): with that a stranger would fill what is told of the wallet.
    .filter(({ amount_atomic }) => amount_atomic > 0n);
  const placed = new Map<string, Transfer>();
  for (const transfer of asked) {
    const place = `${transfer.block_number}/${transfer.log_index}`;
    const known = placed.get(place);
    if (known && !isSame(known, transfer)) return contradicted(place);
    placed.set(place, transfer);
  }
  const ordered = [...placed.values()].sort((a, b) => a.block_number - b.block_number || a.log_index - b.log_index);
  return { kind: 'ok', value: ordered };
}

function isSame(one: Transfer, other: Transfer): boolean {
  return one.tx_hash === other.tx_hash && one.to === other.to && one.amount_atomic === other.amount_atomic;
}

function contradicted(place: string): ChainAnswer<never> {
  return { kind: 'unreachable', cause: new Error(`the node says two things of log ${place}`) };
}
