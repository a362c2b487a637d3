import { answered } from '../reached.ts';
import type { Reached, Rpc } from '../rpc.ts';
import type { Hex } from './abi.ts';
import { hexData } from './base-shapes.ts';
import type { Holdings } from './chain.ts';
import { aggregate, MULTICALL3, readAggregate } from './multicall.ts';
import { balanceCall, stateCall, USDC } from './usdc.ts';

/** Asked in one eth_call, so that balance and uses are of one block: what is used has left that balance, no more. */
export async function readHoldings(rpc: Rpc, payer: Hex, nonces: readonly Hex[]): Promise<Reached<Holdings>> {
  const calls = [balanceCall(payer), ...nonces.map(nonce => stateCall(payer, nonce))].map(callData => ({
    target: USDC,
    callData,
  }));
  const answer = answered(await rpc.call('eth_call', [{ to: MULTICALL3, data: aggregate(calls) }, 'latest'], hexData));
  if (answer.kind !== 'ok') return answer;
  try {
    const [balance_atomic = 0n, ...states] = readAggregate(answer.value, calls.length).map(word => {
      if (word?.length !== 66) throw new Error('USDC did not answer');
      return BigInt(word);
    });
    return { kind: 'ok', value: { balance_atomic, used: states.map(state => state !== 0n) } };
  } catch (cause) {
    return { kind: 'unreachable', cause };
  }
}
