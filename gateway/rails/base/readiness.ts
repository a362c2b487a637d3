import { answered } from '../reached.ts';
import type { Reached, Rpc } from '../rpc.ts';
import type { Hex } from './abi.ts';
import { hexData } from './base-shapes.ts';
import type { AuthorizationName, Readiness } from './chain.ts';
import { aggregate, MULTICALL3, readAggregate } from './multicall.ts';
import { balanceCall, blacklistCall, stateCall, USDC } from './usdc.ts';

/** Balance, blacklist and nonce of many payers in one eth_call, and beside it each payer's code. */
export async function readiness(rpc: Rpc, names: readonly AuthorizationName[]): Promise<readonly Reached<Readiness>[]> {
  const [balances, codes] = await Promise.all([readBalances(rpc, names), readCodes(rpc, names)]);
  return names.map(({ payer }, index) => {
    const balance = balances[index];
    const code = codes.get(payer);
    if (balance?.kind !== 'ok') return balance ?? silent;
    if (code?.kind !== 'ok') return code ?? silent;
    return { kind: 'ok', value: { ...balance.value, has_code: code.value !== '0x' } };
  });
}

const silent = { kind: 'unreachable', cause: new Error('USDC did not answer') } as const;

async function readCodes(rpc: Rpc, names: readonly AuthorizationName[]): Promise<ReadonlyMap<Hex, Reached<Hex>>> {
  const payers = [...new Set(names.map(({ payer }) => payer))];
  const codes = await Promise.all(payers.map(payer => rpc.call('eth_getCode', [payer, 'latest'], hexData)));
  return new Map(codes.map((code, index) => [payers[index] as Hex, answered(code)]));
}

type Balance = Omit<Readiness, 'has_code'>;

async function readBalances(rpc: Rpc, names: readonly AuthorizationName[]): Promise<readonly Reached<Balance>[]> {
  const calls = names.flatMap(({ payer, nonce }) =>
    [balanceCall(payer), blacklistCall(payer), stateCall(payer, nonce)].map(callData => ({ target: USDC, callData })),
  );
  const params = [{ to: MULTICALL3, data: aggregate(calls) }, 'latest'];
  const answer = answered(await rpc.call('eth_call', params, hexData));
  if (answer.kind !== 'ok') return names.map(() => answer);
  try {
    const results = readAggregate(answer.value, calls.length);
    return names.map((_, index) => balanceOf(results.slice(3 * index, 3 * index + 3)));
  } catch (cause) {
    return names.map(() => ({ kind: 'unreachable', cause }));
  }
}

function balanceOf([balance, blacklisted, state]: readonly (Hex | null)[]): Reached<Balance> {
  if (balance?.length !== 66 || blacklisted?.length !== 66 || state?.length !== 66) return silent;
  return {
    kind: 'ok',
    value: { balance_atomic: BigInt(balance), blacklisted: BigInt(blacklisted) !== 0n, used: BigInt(state) !== 0n },
  };
}
