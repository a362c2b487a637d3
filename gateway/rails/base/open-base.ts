import { z } from 'zod';
import { answered, map } from '../reached.ts';
import { type NodeRefusal, openRpc, type Reached } from '../rpc.ts';
import type { Hex } from './abi.ts';
import { blockShape, count, hexData, receiptShape } from './base-shapes.ts';
import { Gather } from './batch-calls.ts';
import type { AuthorizationName, BaseChain, BlockTag, Broadcast } from './chain.ts';
import { readHoldings } from './holdings.ts';
import { authorizationUse, searchLogs } from './logs.ts';
import { readMarket } from './market.ts';
import { readiness } from './readiness.ts';
import { simulate } from './simulate.ts';
import { readTransfer, stateCall, topic, topics, USDC } from './usdc.ts';

const READINESS_ITEMS_MAX = 200;

/** Strangers' code runs in them: each by itself, few at once, and no answer is longer than a proof has to be. */
const simulationsApart = { connections: 8, calls_per_request_max: 1, answer_bytes_max: 64 * 1024 };

/** Base behind a JSON-RPC URL. */
export function openBase({ rpc_url }: { rpc_url: string }): BaseChain {
  const rpc = openRpc(rpc_url);
  const simulations = openRpc(rpc_url, simulationsApart);
  const ask = <T>(method: string, params: readonly unknown[], shape: z.ZodType<T>) =>
    rpc.call(method, params, shape).then(answered);
  const gather = new Gather((names: readonly AuthorizationName[]) => readiness(rpc, names), READINESS_ITEMS_MAX);
  const atBlock = (tag: BlockTag) => (typeof tag === 'number' ? `0x${tag.toString(16)}` : tag);
  return {
    chainId: () => ask('eth_chainId', [], count),
    readiness: name => gather.submit(name),
    holdings: (payer, nonces) => readHoldings(rpc, payer, nonces),
    simulate: (calls, from, fees) => simulate(simulations, calls, from, fees),
    async used({ payer, nonce }, block_number) {
      const call = { to: USDC, data: stateCall(payer, nonce) };
      return map(await ask('eth_call', [call, atBlock(block_number)], word), state => state !== 0n);
    },
    receipts: hashes => Promise.all(hashes.map(hash => ask('eth_getTransactionReceipt', [hash], receiptOf(hash)))),
    calldata: hash => ask('eth_getTransactionByHash', [hash], calldataOf(hash)),
    block: tag => ask('eth_getBlockByNumber', [atBlock(tag), false], blockShape.nullable()),
    authorizationUse: (name, from_block) => authorizationUse(rpc, name, from_block),
    async transfersTo(wallet, from_block, payer) {
      const filter = [topics.transfer, payer ? topic(payer) : null, topic(wallet)];
      return map(await searchLogs(rpc, filter, from_block, () => false), ({ logs }) =>
        logs.map(readTransfer).filter(transfer => transfer !== null),
      );
    },
    broadcast: async raw => namedBroadcast(await rpc.call('eth_sendRawTransaction', [raw], hexData)),
    market: addresses => readMarket(rpc, addresses),
    transactionCount: (address, tag) => ask('eth_getTransactionCount', [address, tag], count),
    code: address => ask('eth_getCode', [address, 'latest'], hexData),
    close: async () => {
      await Promise.all([rpc.close(), simulations.close()]);
    },
  };
}

/** A receipt of another transaction than the one asked for is no answer. */
function receiptOf(hash: Hex) {
  return receiptShape.nullable().refine(receipt => receipt === null || receipt.tx_hash === hash.toLowerCase());
}

function calldataOf(hash: Hex) {
  return z
    .object({ hash: hexData, input: hexData })
    .refine(transaction => transaction.hash === hash.toLowerCase())
    .transform(({ input }) => input)
    .nullable();
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
