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
  type PayerHoldings,
  type PayerReadiness,
  receiptShape,
  type Transfer,
} from './chain.ts';
import {
  aggregate,
  balanceCall,
  blacklistCall,
  MULTICALL3,
  readAggregate,
  readTransfer,
  stateCall,
  topic,
  topics,
  USDC,
} from './contracts.ts';
import { readMarket } from './market.ts';

const READINESS_ITEMS_MAX = 200;

/**
 * Simulations run code of unknown contracts, so each is a separate request, few run at once, and their responses are limited to a
 * small size.
 */
const simulationsApart = { connections: 8, calls_per_request_max: 1, answer_bytes_max: 64 * 1024 };

/** Each search is a separate request, because a node may take seconds for it. */
const searchesApart = { connections: 2, calls_per_request_max: 1, answer_bytes_max: 16 * 1024 * 1024 };

/** Opens Base by the JSON-RPC URL of a node. */
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
    async isUsed({ payer, nonce }, block_number) {
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

/** Schema of a transaction's receipt. The receipt of another transaction is rejected. */
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

/** Reads the refusal from its message, because nodes have no codes for it. The messages are those of geth, reth and anvil. */
function broadcastRefusal(message: string): Broadcast {
  if (/already known|already imported|known transaction/i.test(message)) return { kind: 'taken' };
  if (/nonce too low/i.test(message)) return { kind: 'nonce_too_low' };
  if (/underpriced|max fee per gas less than|fee too low/i.test(message)) return { kind: 'underpriced' };
  return { kind: 'turned_down', message };
}

/**
 * Simulates calls one after another in one transaction, with the gas that the real transaction would get. Returns the result of the
 * last call, or null if it failed or no gas was left for it.
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

/**
 * State override for a simulated sender, which must be able to pay the fees. Whether our key can pay them is checked when a
 * transaction is sent.
 */
const FUNDED = { balance: quantityOf(10n ** 18n) };

function pricedBy({ max_fee_wei, priority_fee_wei }: CallFees) {
  return { maxFeePerGas: quantityOf(max_fee_wei), maxPriorityFeePerGas: quantityOf(priority_fee_wei) };
}

function quantityOf(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}

/** EIP-1474 has a code for a revert (3) but none for running out of gas, which nodes report in a message. */
function hasFailed({ code, message }: NodeRefusal): boolean {
  return code === 3 || /revert|out of ?gas|gas required exceeds|(intrinsic|floor data) gas/i.test(message);
}

/** Nodes limit the blocks that one eth_getLogs may search; 10,000 is the usual limit. */
const LOG_BLOCKS_MAX = 9_000;

/** USDC's logs with these topics from a block to the head, read page by page until `enough` returns true. */
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

/** Searches the logs from a block on for the use of an authorization's nonce. */
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

/** Reads balance, blacklist and nonce of many payers in one eth_call, with each payer's code in the same request. */
async function readiness(
  rpc: Rpc,
  names: readonly AuthorizationName[],
): Promise<readonly ChainAnswer<PayerReadiness>[]> {
  const [balances, codes] = await Promise.all([readBalances(rpc, names), readCodes(rpc, names)]);
  return names.map(({ payer }, index) => {
    const balance = balances[index];
    const code = codes.get(payer);
    if (balance?.kind !== 'ok') return balance ?? silent;
    if (code?.kind !== 'ok') return code ?? silent;
    return { kind: 'ok', value: { ...balance.value, has_code: code.value !== '0x' } };
  });
}

const silent = { kind: 'unreachable', cause: new Error('the call to the USDC contract had no result') } as const;

async function readCodes(rpc: Rpc, names: readonly AuthorizationName[]): Promise<ReadonlyMap<Hex, ChainAnswer<Hex>>> {
  const payers = [...new Set(names.map(({ payer }) => payer))];
  const codes = await Promise.all(payers.map(payer => rpc.call('eth_getCode', [payer, 'latest'], hexData)));
  return new Map(codes.map((code, index) => [payers[index] as Hex, refusedAsUnreachable(code)]));
}

type Balance = Omit<PayerReadiness, 'has_code'>;

async function readBalances(rpc: Rpc, names: readonly AuthorizationName[]): Promise<readonly ChainAnswer<Balance>[]> {
  const calls = names.flatMap(({ payer, nonce }) =>
    [balanceCall(payer), blacklistCall(payer), stateCall(payer, nonce)].map(callData => ({ target: USDC, callData })),
  );
  const params = [{ to: MULTICALL3, data: aggregate(calls) }, 'latest'];
  const answer = refusedAsUnreachable(await rpc.call('eth_call', params, hexData));
  if (answer.kind !== 'ok') return names.map(() => answer);
  try {
    const results = readAggregate(answer.value, calls.length);
    return names.map((_, index) => balanceOf(results.slice(3 * index, 3 * index + 3)));
  } catch (cause) {
    return names.map(() => ({ kind: 'unreachable', cause }));
  }
}

function balanceOf([balance, blacklisted, state]: readonly (Hex | null)[]): ChainAnswer<Balance> {
  if (balance?.length !== 66 || blacklisted?.length !== 66 || state?.length !== 66) return silent;
  return {
    kind: 'ok',
    value: { balance_atomic: BigInt(balance), blacklisted: BigInt(blacklisted) !== 0n, used: BigInt(state) !== 0n },
  };
}

/**
 * Reads a balance and nonces in one eth_call, so that both are of the same block: exactly the payments whose nonces are used have
 * left the balance.
 */
async function readHoldings(rpc: Rpc, payer: Hex, nonces: readonly Hex[]): Promise<ChainAnswer<PayerHoldings>> {
  const calls = [balanceCall(payer), ...nonces.map(nonce => stateCall(payer, nonce))].map(callData => ({
    target: USDC,
    callData,
  }));
  const answer = refusedAsUnreachable(
    await rpc.call('eth_call', [{ to: MULTICALL3, data: aggregate(calls) }, 'latest'], hexData),
  );
  if (answer.kind !== 'ok') return answer;
  try {
    const [balance_atomic = 0n, ...states] = readAggregate(answer.value, calls.length).map(word => {
      if (word?.length !== 66) throw new Error('the call to the USDC contract had no result');
      return BigInt(word);
    });
    return { kind: 'ok', value: { balance_atomic, used: states.map(state => state !== 0n) } };
  } catch (cause) {
    return { kind: 'unreachable', cause };
  }
}

/**
 * Batches calls: those that arrive while a response is awaited go together in the next request. Concurrency: one request at a time;
 * a failed request fails only its own calls.
 */
class BatchedCalls<I, O> {
  readonly #ask: (items: readonly I[]) => Promise<readonly O[]>;
  readonly #items_max: number;
  #waiting: { item: I; resolve: (answer: O) => void; reject: (error: unknown) => void }[] = [];
  #asking = false;

  constructor(ask: (items: readonly I[]) => Promise<readonly O[]>, items_max: number) {
    this.#ask = ask;
    this.#items_max = items_max;
  }

  submit(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#asking) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#asking = true;
    // Waiting for one turn of the event loop lets callers of the same tick join the first request.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const asked = this.#waiting.splice(0, this.#items_max);
      try {
        const answers = await this.#ask(asked.map(({ item }) => item));
        asked.forEach(({ resolve }, index) => {
          resolve(answers[index] as O);
        });
      } catch (error) {
        for (const { reject } of asked) reject(error);
      }
    }
    this.#asking = false;
  }
}

interface Blocks {
  readonly from_block: number;
  readonly to_block: number;
}

/**
 * USDC's transfers from a wallet in these blocks, in the chain's order. Logs that were not requested are dropped. If a node returns
 * two versions of one log, its whole response is rejected.
 */
function transfersFrom(rpc: Rpc, wallet: Hex, blocks: Blocks) {
  return transfersOf(rpc, { topics: [topics.transfer, topic(wallet)], is_its: ({ from }) => from === wallet }, blocks);
}

/** Like `transfersFrom`, for transfers to the wallet. */
function transfersInto(rpc: Rpc, wallet: Hex, blocks: Blocks) {
  return transfersOf(
    rpc,
    { topics: [topics.transfer, null, topic(wallet)], is_its: ({ to }) => to === wallet },
    blocks,
  );
}

interface Side {
  readonly topics: readonly (Hex | null)[];
  is_its(transfer: Transfer): boolean;
}

async function transfersOf(
  rpc: Rpc,
  { topics, is_its }: Side,
  { from_block, to_block }: Blocks,
): Promise<ChainAnswer<readonly Transfer[]> | NodeRefusal> {
  const range = { fromBlock: `0x${from_block.toString(16)}`, toBlock: `0x${to_block.toString(16)}` };
  const filter = { address: USDC, topics, ...range };
  const answer = await rpc.call('eth_getLogs', [filter], z.array(logShape));
  if (answer.kind !== 'ok') return answer;
  const asked = answer.value
    .map(readTransfer)
    .filter(transfer => transfer !== null)
    .filter(transfer => is_its(transfer))
    .filter(({ block_number }) => from_block <= block_number && block_number <= to_block)
    // Anyone can transfer 0 from any wallet (EIP-20), so a stranger could fill a wallet's list with such transfers.
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
  return { kind: 'unreachable', cause: new Error(`the node returned two versions of log ${place}`) };
}
