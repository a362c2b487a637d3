import { z } from 'zod';
import type { Hex } from './abi.ts';
import { blockShape, type ChainLog, count, hexData, logShape, quantity, receiptShape } from './base-shapes.ts';
import type { AuthorizationName, AuthorizationUse, BaseChain, BlockTag, Broadcast, Readiness } from './chain.ts';
import { Gather } from './gather.ts';
import { aggregate, MULTICALL3, readAggregate } from './multicall.ts';
import { type NodeRefusal, openRpc, type Reached, type Rpc } from './rpc.ts';
import { balanceCall, readTransfer, stateCall, topic, topics, USDC } from './usdc.ts';

/** Nodes bound how much of the chain one eth_getLogs may search; 10,000 blocks is the usual bound. */
const LOG_BLOCKS_MAX = 9_000;
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
    receipts: async hashes =>
      all(await Promise.all(hashes.map(hash => ask('eth_getTransactionReceipt', [hash], receiptShape.nullable())))),
    block: tag => ask('eth_getBlockByNumber', [atBlock(tag), false], blockShape.nullable()),
    authorizationUse: (name, from_block) => authorizationUse(rpc, name, from_block),
    async transfersTo(wallet, from_block) {
      const filter = [topics.transfer, null, topic(wallet)];
      return map(await searchLogs(rpc, filter, from_block, () => false), logs =>
        logs.map(readTransfer).filter(transfer => transfer !== null),
      );
    },
    broadcast: async raw => namedBroadcast(await rpc.call('eth_sendRawTransaction', [raw], hexData)),
    async market(addresses) {
      const [head, priority, counts, balances] = await Promise.all([
        ask('eth_getBlockByNumber', ['latest', false], blockShape),
        ask('eth_maxPriorityFeePerGas', [], quantity),
        Promise.all(addresses.map(address => ask('eth_getTransactionCount', [address, 'pending'], count))).then(all),
        Promise.all(addresses.map(address => ask('eth_getBalance', [address, 'latest'], quantity))).then(all),
      ]);
      if (head.kind !== 'ok') return head;
      if (priority.kind !== 'ok') return priority;
      if (counts.kind !== 'ok') return counts;
      return map(balances, list => ({
        head: head.value,
        priority_fee_wei: priority.value,
        keys: addresses.map((address, index) => ({
          address,
          nonce_pending: counts.value[index] ?? 0,
          balance_wei: list[index] ?? 0n,
        })),
      }));
    },
    transactionCount: (address, tag) => ask('eth_getTransactionCount', [address, tag], count),
    code: address => ask('eth_getCode', [address, 'latest'], hexData),
    close: () => rpc.close(),
  };
}

const word = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform(value => BigInt(value));

/** To a read a node's refusal is no answer either (rate limit, block not there yet): nothing is known. */
function answered<T>(answer: Reached<T> | NodeRefusal): Reached<T> {
  return answer.kind === 'refused' ? { kind: 'unreachable', cause: new Error(answer.message) } : answer;
}

function map<A, B>(reached: Reached<A>, change: (value: A) => B): Reached<B> {
  return reached.kind === 'ok' ? { kind: 'ok', value: change(reached.value) } : reached;
}

function all<T>(each: readonly Reached<T>[]): Reached<T[]> {
  const value: T[] = [];
  for (const one of each) {
    if (one.kind !== 'ok') return one;
    value.push(one.value);
  }
  return { kind: 'ok', value };
}

async function readiness(rpc: Rpc, names: readonly AuthorizationName[]): Promise<readonly Reached<Readiness>[]> {
  const calls = names.flatMap(({ payer, nonce }) => [
    { target: USDC, callData: balanceCall(payer) },
    { target: USDC, callData: stateCall(payer, nonce) },
  ]);
  const params = [{ to: MULTICALL3, data: aggregate(calls) }, 'latest'];
  const answer = answered(await rpc.call('eth_call', params, hexData));
  if (answer.kind !== 'ok') return names.map(() => answer);
  try {
    const results = readAggregate(answer.value, calls.length);
    return names.map((_, index) => readinessOf(results[2 * index] ?? null, results[2 * index + 1] ?? null));
  } catch (cause) {
    return names.map(() => ({ kind: 'unreachable', cause }));
  }
}

function readinessOf(balance: Hex | null, state: Hex | null): Reached<Readiness> {
  const cause = new Error('USDC did not answer');
  if (balance?.length !== 66 || state?.length !== 66) return { kind: 'unreachable', cause };
  return { kind: 'ok', value: { balance_atomic: BigInt(balance), used: BigInt(state) !== 0n } };
}

/** USDC's logs with these topics from a block to the head, page by page, until `enough`. */
async function searchLogs(
  rpc: Rpc,
  filter: readonly unknown[],
  from_block: number,
  enough: (logs: readonly ChainLog[]) => boolean,
): Promise<Reached<readonly ChainLog[]>> {
  const head = answered(await rpc.call('eth_blockNumber', [], count));
  if (head.kind !== 'ok') return head;
  const found: ChainLog[] = [];
  for (let from = from_block; from <= head.value && !enough(found); from += LOG_BLOCKS_MAX) {
    const to = Math.min(from + LOG_BLOCKS_MAX - 1, head.value);
    const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
    const page = answered(
      await rpc.call('eth_getLogs', [{ address: USDC, topics: filter, ...range }], z.array(logShape)),
    );
    if (page.kind !== 'ok') return page;
    found.push(...page.value);
  }
  return { kind: 'ok', value: found };
}

async function authorizationUse(
  rpc: Rpc,
  { payer, nonce }: AuthorizationName,
  from_block: number,
): Promise<Reached<AuthorizationUse | null>> {
  const filter = [[topics.authorizationUsed, topics.authorizationCanceled], topic(payer), nonce];
  const logs = await searchLogs(rpc, filter, from_block, found => found.length > 0);
  return map(logs, ([log]) => {
    if (!log) return null;
    return log.topics[0] === topics.authorizationUsed ? { kind: 'used', tx_hash: log.tx_hash } : { kind: 'cancelled' };
  });
}

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
