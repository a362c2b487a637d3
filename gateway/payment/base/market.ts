import { all, answered, map } from '../reached.ts';
import type { Reached, Rpc } from '../rpc.ts';
import type { Hex } from './abi.ts';
import { blockShape, count, quantity } from './base-shapes.ts';
import type { Market } from './chain.ts';

/** Head, fees, nonces and balances; asked in one turn, so they travel in one request. */
export async function readMarket(rpc: Rpc, addresses: readonly Hex[]): Promise<Reached<Market>> {
  const [head, priority, keys] = await Promise.all([
    rpc.call('eth_getBlockByNumber', ['latest', false], blockShape).then(answered),
    rpc.call('eth_maxPriorityFeePerGas', [], quantity).then(answered),
    Promise.all(addresses.map(address => readKey(rpc, address))).then(all),
  ]);
  if (head.kind !== 'ok') return head;
  if (priority.kind !== 'ok') return priority;
  return map(keys, list => ({ head: head.value, priority_fee_wei: priority.value, keys: list }));
}

async function readKey(rpc: Rpc, address: Hex): Promise<Reached<Market['keys'][number]>> {
  const [nonce, balance] = await Promise.all([
    rpc.call('eth_getTransactionCount', [address, 'pending'], count).then(answered),
    rpc.call('eth_getBalance', [address, 'latest'], quantity).then(answered),
  ]);
  if (nonce.kind !== 'ok') return nonce;
  return map(balance, balance_wei => ({ address, nonce_pending: nonce.value, balance_wei }));
}
