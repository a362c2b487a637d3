import { z } from 'zod';
import type { Hex } from './abi.ts';
import { blockShape, count, hexData, receiptShape } from './base-shapes.ts';
import type { AuthorizationName, BaseChain, BlockTag, Broadcast } from './chain.ts';
import { Gather } from './gather.ts';
import { authorizationUse, searchLogs } from './logs.ts';
import { readMarket } from './market.ts';
import { answered, map } from './reached.ts';
import { readiness } from './readiness.ts';
import { type NodeRefusal, openRpc, type Reached } from './rpc.ts';
import { readTransfer, stateCall, topic, topics, USDC } from './usdc.ts';

const READINESS_ITEMS_MAX = 200;

/** Base behind a JSON-RPC URL. */
export function openBase({ rpc_url }: { rpc_url: string }): BaseChain {
  const rpc = openRpc(rpc_url);
  const ask = <T>(method: string, params: readonly unknown[], shape: z.ZodType<T>) =>
    rpc.call(method, params, shape).then(answered);
  const gather = new Gather((names: readonly AuthorizationName[]) => readiness(rpc, names), READINESS_ITEMS_MAX);
  const atBlock = (tag: BlockTag) => (typeof tag === 'number' ? `0x${tag.toString(16)}` : tag);
  return {
    readiness: name => gather.submit(name),
    async used({ payer, nonce }, block_number) {
      const call = { to: USDC, data: stateCall(payer, nonce) };
      return map(await ask('eth_call', [call, atBlock(block_number)], word), state => state !== 0n);
    },
    receipts: hashes =>
      Promise.all(hashes.map(hash => ask('eth_getTransactionReceipt', [hash], receiptShape.nullable()))),
    block: tag => ask('eth_getBlockByNumber', [atBlock(tag), false], blockShape.nullable()),
    authorizationUse: (name, from_block) => authorizationUse(rpc, name, from_block),
    async transfersTo(wallet, from_block) {
      const filter = [topics.transfer, null, topic(wallet)];
      return map(await searchLogs(rpc, filter, from_block, () => false), logs =>
        logs.map(readTransfer).filter(transfer => transfer !== null),
      );
    },
    broadcast: async raw => namedBroadcast(await rpc.call('eth_sendRawTransaction', [raw], hexData)),
    market: addresses => readMarket(rpc, addresses),
    transactionCount: (address, tag) => ask('eth_getTransactionCount', [address, tag], count),
    code: address => ask('eth_getCode', [address, 'latest'], hexData),
    close: () => rpc.close(),
  };
}

const word = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform(value => BigInt(value));

function namedBroadcast(answer: Reached<Hex> | NodeRefusal): Reached<Broadcast> {
  if (answer.kind === 'unreachable') return answer;
  return { kind: 'ok', value: answer.kind === 'ok' ? { kind: 'taken' } : broadcastRefusal(answer.message) };
}

/** Nodes have no codes for these, only sentences: geth's, reth's and anvil's. */
function broadcastRefusal(message: string): Broadcast {
  if (/already known|already imported|known transaction/i.test(message)) return { kind: 'taken' };
  if (/nonce too low/i.test(message)) return { kind: 'nonce_too_low' };
  if (/underpriced|max fee per gas less than|fee too low/i.test(message)) return { kind: 'underpriced' };
  return { kind: 'turned_down', message };
}
