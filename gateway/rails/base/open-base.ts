import { z } from 'zod';
import { limits } from '../../../schema/limits.ts';
import { type ChainAnswer, map, type NodeRefusal, openRpc, type Rpc, refusedAsUnreachable } from '../rpc.ts';
import type { Hex } from './abi.ts';
import {
  type AuthorizationName,
  type AuthorizationUse,
  type BaseChain,
  type BlockTag,
  type Broadcast,
  blockShape,
  type CallFees,
  type ChainLog,
  type ContractCall,
  count,
  hexData,
  logShape,
  receiptShape,
} from './chain.ts';
import { aggregate, MULTICALL3, readAggregate, readTransfer, stateCall, topic, topics, USDC } from './contracts.ts';
import { readMarket } from './market.ts';
import { BatchedCalls, readHoldings, readiness } from './readiness.ts';
import { searchesApart, transfersFrom, transfersInto } from './transfers-from.ts';

const READINESS_ITEMS_MAX = 200;

/** Strangers' code runs in them: each by itself, few at once, and no answer is longer than a proof has to be. */
const simulationsApart = { connections: 8, calls_per_request_max: 1, answer_bytes_max: 64 * 1024 };

/** Base behind a JSON-RPC URL. */
export function openBase({ rpc_url }: { rpc_url: string }): BaseChain {
  const rpc = openRpc(rpc_url);
  const simulations = openRpc(rpc_url, simulationsApart);
  const searches = openRpc(rpc_url, searchesApart);
  const ask = <T>(method: string, params: readonly unknown[], shape: z.ZodType<T>) =>
    rpc.call(method, params, shape).then(refusedAsUnreachable);
  const gather = new BatchedCalls((names: readonly AuthorizationName[]) => readiness(rpc, names), READINESS_ITEMS_MAX);
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
    transfersInto: (wallet, from_block, to_block) => transfersInto(searches, wallet, { from_block, to_block }),
    transfersFrom: (wallet, from_block, to_block) => transfersFrom(searches, wallet, { from_block, to_block }),
    broadcast: async raw => namedBroadcast(await rpc.call('eth_sendRawTransaction', [raw], hexData)),
    market: addresses => readMarket(rpc, addresses),
    transactionCount: (address, tag) => ask('eth_getTransactionCount', [address, tag], count),
    code: address => ask('eth_getCode', [address, 'latest'], hexData),
    close: async () => {
      await Promise.all([rpc.close(), simulations.close(), searches.close()]);
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

function namedBroadcast(answer: ChainAnswer<Hex> | NodeRefusal): ChainAnswer<Broadcast> {
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

/**
 * Runs calls one after another in one transaction that is thrown away, with no more gas than it would be sent with:
 * what the last of them returned, or null where it failed or nothing was left for it.
 */
async function simulate(
  rpc: Rpc,
  calls: readonly ContractCall[],
  from: Hex,
  fees?: CallFees,
): Promise<ChainAnswer<Hex | null>> {
  const gas = quantityOf(limits.wallet_gas_max);
  const call = { from, to: MULTICALL3, data: aggregate(calls), gas };
  const params = fees ? [{ ...call, ...pricedBy(fees) }, 'latest', { [from]: FUNDED }] : [call, 'latest'];
  const answer = await rpc.call('eth_call', params, hexData);
  if (answer.kind === 'refused' && hasFailed(answer)) return { kind: 'ok', value: null };
  const returned = refusedAsUnreachable(answer);
  if (returned.kind !== 'ok') return returned;
  try {
    return { kind: 'ok', value: readAggregate(returned.value, calls.length).at(-1) ?? null };
  } catch (cause) {
    return { kind: 'unreachable', cause };
  }
}

/** The sender of a priced call must be able to pay for it: that ours can is found out where it is sent. */
const FUNDED = { balance: quantityOf(10n ** 18n) };

function pricedBy({ max_fee_wei, priority_fee_wei }: CallFees) {
  return { maxFeePerGas: quantityOf(max_fee_wei), maxPriorityFeePerGas: quantityOf(priority_fee_wei) };
}

function quantityOf(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}

/** EIP-1474 knows a code for a revert (3) and none for a call that ran out of gas: nodes say it in a sentence. */
function hasFailed({ code, message }: NodeRefusal): boolean {
  return code === 3 || /revert|out of ?gas|gas required exceeds|(intrinsic|floor data) gas/i.test(message);
}

/** Nodes bound how much of the chain one eth_getLogs may search; 10,000 blocks is the usual bound. */
const LOG_BLOCKS_MAX = 9_000;

/** USDC's logs with these topics from a block to the head, page by page, until `enough`. */
async function searchLogs(
  rpc: Rpc,
  filter: readonly unknown[],
  from_block: number,
  enough: (logs: readonly ChainLog[]) => boolean,
): Promise<ChainAnswer<{ readonly logs: readonly ChainLog[]; readonly head: number }>> {
  const head = refusedAsUnreachable(await rpc.call('eth_blockNumber', [], count));
  if (head.kind !== 'ok') return head;
  const found: ChainLog[] = [];
  for (let from = from_block; from <= head.value && !enough(found); from += LOG_BLOCKS_MAX) {
    const to = Math.min(from + LOG_BLOCKS_MAX - 1, head.value);
    const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
    const page = refusedAsUnreachable(
      await rpc.call('eth_getLogs', [{ address: USDC, topics: filter, ...range }], z.array(logShape)),
    );
    if (page.kind !== 'ok') return page;
    found.push(...page.value);
  }
  return { kind: 'ok', value: { logs: found, head: head.value } };
}

/** Where an authorization's nonce was spent, from a block on. */
async function authorizationUse(
  rpc: Rpc,
  { payer, nonce }: AuthorizationName,
  from_block: number,
): Promise<ChainAnswer<AuthorizationUse>> {
  const filter = [[topics.authorizationUsed, topics.authorizationCanceled], topic(payer), nonce];
  const searched = await searchLogs(rpc, filter, from_block, found => found.length > 0);
  return map(searched, ({ logs: [log], head }) => {
    if (!log) return { kind: 'unseen', searched_to: head };
    return log.topics[0] === topics.authorizationUsed ? { kind: 'used', tx_hash: log.tx_hash } : { kind: 'cancelled' };
  });
}
