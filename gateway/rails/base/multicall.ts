import { decodeFunctionResult, encodeFunctionData, multicall3Abi } from 'viem';
import { networks } from '../../../schema/network.ts';
import type { Hex } from './abi.ts';

export const MULTICALL3 = networks.base.multicall3.toLowerCase() as Hex;

export interface Call {
  readonly target: Hex;
  readonly callData: Hex;
}

/** Many calls in one; each may fail by itself, so one bad authorization harms nobody. */
export function aggregate(calls: readonly Call[]): Hex {
  const args = [calls.map(call => ({ ...call, allowFailure: true }))] as const;
  return encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args });
}

/** What each call returned; null where it failed. @throws where the node answered something else. */
export function readAggregate(data: Hex, calls: number): (Hex | null)[] {
  const results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data });
  if (results.length !== calls) throw new Error(`${calls} calls were answered by ${results.length} results`);
  return results.map(({ success, returnData }) => (success ? returnData : null));
}
