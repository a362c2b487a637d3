import { limits } from '../../../schema/limits.ts';
import { answered } from '../reached.ts';
import type { NodeRefusal, Reached, Rpc } from '../rpc.ts';
import type { Hex } from './abi.ts';
import { hexData } from './base-shapes.ts';
import type { CallFees } from './chain.ts';
import { aggregate, type Call, MULTICALL3, readAggregate } from './multicall.ts';

/**
 * Runs calls one after another in one transaction that is thrown away, with no more gas than it would be sent with:
 * what the last of them returned, or null where it failed or nothing was left for it.
 */
export async function simulate(
  rpc: Rpc,
  calls: readonly Call[],
  from: Hex,
  fees?: CallFees,
): Promise<Reached<Hex | null>> {
  const gas = quantityOf(limits.wallet_gas_max);
  const call = { from, to: MULTICALL3, data: aggregate(calls), gas };
  const params = fees ? [{ ...call, ...pricedBy(fees) }, 'latest', { [from]: FUNDED }] : [call, 'latest'];
  const answer = await rpc.call('eth_call', params, hexData);
  if (answer.kind === 'refused' && hasFailed(answer)) return { kind: 'ok', value: null };
  const returned = answered(answer);
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
