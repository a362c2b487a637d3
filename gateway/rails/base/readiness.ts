import { type ChainAnswer, type Rpc, refusedAsUnreachable } from '../rpc.ts';
import type { Hex } from './abi.ts';
import { type AuthorizationName, hexData, type PayerHoldings, type PayerReadiness } from './chain.ts';
import { aggregate, balanceCall, blacklistCall, MULTICALL3, readAggregate, stateCall, USDC } from './contracts.ts';

/** Balance, blacklist and nonce of many payers in one eth_call, and beside it each payer's code. */
export async function readiness(
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

const silent = { kind: 'unreachable', cause: new Error('USDC did not answer') } as const;

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

/** Asked in one eth_call, so that balance and uses are of one block: what is used has left that balance, no more. */
export async function readHoldings(rpc: Rpc, payer: Hex, nonces: readonly Hex[]): Promise<ChainAnswer<PayerHoldings>> {
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
      if (word?.length !== 66) throw new Error('USDC did not answer');
      return BigInt(word);
    });
    return { kind: 'ok', value: { balance_atomic, used: states.map(state => state !== 0n) } };
  } catch (cause) {
    return { kind: 'unreachable', cause };
  }
}

/**
 * Asks for many at once: what arrives while an answer is awaited goes together in the next question.
 * Concurrency: one question is open at a time; an answer that fails fails for its own members only.
 */
export class BatchedCalls<I, O> {
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
    // One turn of the loop lets callers of the same tick join the first question.
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
