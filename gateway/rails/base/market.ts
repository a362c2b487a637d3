import { all, type ChainAnswer, map, type Rpc, refusedAsUnreachable } from '../rpc.ts';
import { type Hex, selector, words } from './abi.ts';
import { blockShape, count, type EthRound, hexData, type Market, quantity } from './chain.ts';
import { aggregate, MULTICALL3, readAggregate } from './contracts.ts';

/** Address of Chainlink's ETH/USD feed on Base, whose answers have 8 decimals. */
export const ETH_USD_FEED: Hex = '0x71041dddad3595f9ced3dccfbe3d1f4b0a16bb70';
/**
 * Address of the OP-stack predeploy that computes the L1 fee for a transaction's data, charged in addition to its gas. (Isthmus'
 * operator fee is zero on Base.)
 */
export const GAS_PRICE_ORACLE: Hex = '0x420000000000000000000000000000000000000f';

/** Number of bytes that the L1 fee is read for. The fee per byte falls with length, so a multiple of it is an upper bound. */
export const L1_FEE_BYTES = 100;

const questions = [
  { target: ETH_USD_FEED, callData: `0x${selector('latestRoundData()')}` as Hex },
  {
    target: GAS_PRICE_ORACLE,
    callData: `0x${selector('getL1FeeUpperBound(uint256)')}${words(L1_FEE_BYTES)}` as Hex,
  },
];

/** Reads head, fees, nonces and balances in one turn of the event loop, so that they share one request. */
export async function readMarket(rpc: Rpc, addresses: readonly Hex[]): Promise<ChainAnswer<Market>> {
  const [head, priority, worth, keys] = await Promise.all([
    rpc.call('eth_getBlockByNumber', ['latest', false], blockShape).then(refusedAsUnreachable),
    rpc.call('eth_maxPriorityFeePerGas', [], quantity).then(refusedAsUnreachable),
    readWorth(rpc),
    Promise.all(addresses.map(address => readKey(rpc, address))).then(all),
  ]);
  if (head.kind !== 'ok') return head;
  if (priority.kind !== 'ok') return priority;
  if (worth.kind !== 'ok') return worth;
  return map(keys, list => ({ head: head.value, priority_fee_wei: priority.value, ...worth.value, keys: list }));
}

/** Reads the price of an ether and the L1 fee of `L1_FEE_BYTES` bytes. */
async function readWorth(rpc: Rpc): Promise<ChainAnswer<Pick<Market, 'eth_round' | 'l1_fee_wei'>>> {
  const answer = refusedAsUnreachable(
    await rpc.call('eth_call', [{ to: MULTICALL3, data: aggregate(questions) }, 'latest'], hexData),
  );
  if (answer.kind !== 'ok') return answer;
  try {
    const [round = null, l1_fee = null] = readAggregate(answer.value, questions.length);
    // A chain without that fee does not respond with a word of 32 bytes.
    const l1_fee_wei = l1_fee?.length === 66 ? BigInt(l1_fee) : 0n;
    return { kind: 'ok', value: { eth_round: roundOf(round), l1_fee_wei } };
  } catch (cause) {
    return { kind: 'unreachable', cause };
  }
}

const WORD_CHARS = 64;

/** Decodes (roundId, answer, startedAt, updatedAt, answeredInRound). The answer is a signed integer. */
function roundOf(data: Hex | null): EthRound {
  if (data === '0x') return { kind: 'absent' };
  if (data?.length !== 2 + 5 * WORD_CHARS) return { kind: 'unreadable' };
  const word = (index: number) => BigInt(`0x${data.slice(2 + index * WORD_CHARS, 2 + (index + 1) * WORD_CHARS)}`);
  const updated_at = word(3);
  if (updated_at > BigInt(Number.MAX_SAFE_INTEGER)) return { kind: 'unreadable' };
  return { kind: 'round', answer: BigInt.asIntN(256, word(1)), updated_at_seconds: Number(updated_at) };
}

async function readKey(rpc: Rpc, address: Hex): Promise<ChainAnswer<Market['keys'][number]>> {
  const [nonce, balance] = await Promise.all([
    rpc.call('eth_getTransactionCount', [address, 'pending'], count).then(refusedAsUnreachable),
    rpc.call('eth_getBalance', [address, 'latest'], quantity).then(refusedAsUnreachable),
  ]);
  if (nonce.kind !== 'ok') return nonce;
  return map(balance, balance_wei => ({ address, nonce_pending: nonce.value, balance_wei }));
}
