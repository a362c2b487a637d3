import type { Hex } from './abi.ts';
import { hexData } from './base-shapes.ts';
import type { AuthorizationName, Readiness } from './chain.ts';
import { aggregate, MULTICALL3, readAggregate } from './multicall.ts';
import { answered } from './reached.ts';
import type { Reached, Rpc } from './rpc.ts';
import { balanceCall, stateCall, USDC } from './usdc.ts';

/** Balance and nonce of many payers in one eth_call. */
export async function readiness(rpc: Rpc, names: readonly AuthorizationName[]): Promise<readonly Reached<Readiness>[]> {
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
