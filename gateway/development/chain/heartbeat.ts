import { rpcBatch } from './rpc.ts';

const BEAT_MS = 2_000;
const IDLE_SECONDS_MAX = 60;
/** Number of newest blocks that are examined. With one slot per epoch anvil calls a block final when two blocks follow it. */
const EMPTY_BLOCKS = 2;

interface Block {
  readonly timestamp: string;
  readonly transactions: readonly unknown[];
}

/**
 * Mines the blocks that a chain needs which otherwise mines only on demand. Without them the last payment never becomes final, and
 * no authorization expires by the chain's clock. No other blocks are mined, because every block stays in the saved state.
 */
export function startHeartbeat(rpc_url: string): () => void {
  const timer = setInterval(() => void beat(rpc_url).catch(() => {}), BEAT_MS);
  timer.unref();
  return () => clearInterval(timer);
}

async function beat(rpc_url: string): Promise<void> {
  const [head] = (await rpcBatch(rpc_url, [{ method: 'eth_blockNumber', params: [] }])) as [string];
  const numbers = Array.from({ length: EMPTY_BLOCKS }, (_, depth) => Number(head) - depth).filter(
    number => number >= 0,
  );
  const calls = numbers.map(number => ({
    method: 'eth_getBlockByNumber',
    params: [`0x${number.toString(16)}`, false],
  }));
  const blocks = (await rpcBatch(rpc_url, calls)) as Block[];
  const unfinished = blocks.some(block => block.transactions.length > 0);
  const idle_seconds = Date.now() / 1000 - Number(blocks[0]?.timestamp);
  if (unfinished || idle_seconds > IDLE_SECONDS_MAX) await rpcBatch(rpc_url, [{ method: 'evm_mine', params: [] }]);
}
